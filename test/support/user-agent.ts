import { request } from 'undici'

/** A page or an answer, as a browser holds it. */
export type Page = {
  url: string
  status: number
  headers: Record<string, string | string[] | undefined>
  text: string
  /** Where it leads, when that is no longer the identity provider's. */
  left: URL | undefined
}

type Cookie = { name: string; value: string; path: string }
type Form = { action: string; method: string; fields: [string, string][]; buttons: [string, string][] }

/**
 * A browser without a window: keeps cookies by their path, follows redirects as long as they stay at one origin, fills
 * and sends forms. It runs no scripts, so that what a script would send by itself is sent by `send`.
 */
export class UserAgent {
  readonly #origin: string
  #cookies: Cookie[] = []

  constructor(authUrl: string) {
    this.#origin = new URL(authUrl).origin
  }

  get cookies(): readonly Cookie[] {
    return this.#cookies
  }

  async open(address: string | URL): Promise<Page> {
    return this.#go('GET', new URL(address, this.#origin))
  }

  /** Sends the first form of the page, with what was typed in and the button that was pressed. */
  async send(page: Page, typed: Record<string, string> = {}, button?: [string, string]): Promise<Page> {
    const [form] = formsOf(page.text)
    if (form === undefined) throw new Error(`${page.status} ${page.url} has no form:\n${page.text.slice(0, 2_000)}`)
    const body = new URLSearchParams(form.fields)
    for (const [name, value] of Object.entries(typed)) body.set(name, value)
    if (button !== undefined) body.set(...button)
    const target = new URL(form.action === '' ? page.url : form.action, page.url)
    return this.#go(form.method, target, body)
  }

  async #go(method: string, target: URL, body?: URLSearchParams, hops = 0): Promise<Page> {
    if (hops > 20) throw new Error(`${target.href} leads round and round`)
    const cookie = this.#cookies
      .filter(({ path }) => target.pathname === path || target.pathname.startsWith(path.replace(/\/?$/, '/')))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ')
    const response = await request(target, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers: {
        accept: 'text/html',
        ...(cookie === '' ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', origin: this.#origin }),
      },
      body: body === undefined ? null : body.toString(),
    })
    const text = await response.body.text()
    this.#keep(response.headers['set-cookie'], target)
    const { location } = response.headers
    const page = { url: target.href, status: response.statusCode, headers: response.headers, text }
    if (typeof location !== 'string') return { ...page, left: undefined }
    const next = new URL(location, target)
    if (next.origin !== this.#origin) return { ...page, left: next }
    return this.#go('GET', next, undefined, hops + 1)
  }

  #keep(header: string | string[] | undefined, target: URL): void {
    for (const line of [header ?? []].flat()) {
      const [pair = '', ...attributes] = line.split(/;\s*/)
      const at = pair.indexOf('=')
      const name = pair.slice(0, at)
      const value = pair.slice(at + 1)
      const attribute = (key: string): string | undefined =>
        attributes.find((each) => each.toLowerCase().startsWith(`${key}=`))?.slice(key.length + 1)
      const path = attribute('path') ?? target.pathname.replace(/\/[^/]*$/, '/')
      const expires = attribute('expires')
      const isGone =
        value === '' || attribute('max-age') === '0' || (expires !== undefined && Date.parse(expires) < Date.now())
      this.#cookies = this.#cookies.filter((each) => each.name !== name || each.path !== path)
      if (!isGone) this.#cookies.push({ name, value, path })
    }
  }
}

/** Whether the page asks for a password, and whether for a decision. */
export function asksForPassword({ text }: Page): boolean {
  return /<input[^>]*type="password"/.test(text)
}

/** The forms of a page, with what they would send untouched. */
export function formsOf(html: string): Form[] {
  return [...html.matchAll(/<form\b([^>]*)>([^]*?)<\/form>/g)].map(([, attributes = '', content = '']) => {
    const inputs = [...content.matchAll(/<input\b([^>]*)>/g)].map(([, each = '']) => each)
    return {
      action: attributeOf(attributes, 'action'),
      method: attributeOf(attributes, 'method').toUpperCase(),
      fields: inputs.map((each): [string, string] => [attributeOf(each, 'name'), attributeOf(each, 'value')]),
      buttons: [...content.matchAll(/<button\b([^>]*)>/g)].map(([, each = '']): [string, string] => [
        attributeOf(each, 'name'),
        attributeOf(each, 'value'),
      ]),
    }
  })
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" }

function attributeOf(attributes: string, name: string): string {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? ''
  return value.replaceAll(/&([#\w]+);/g, (whole, entity: string) => ENTITIES[entity] ?? whole)
}
