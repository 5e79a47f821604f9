import { request } from 'undici'

export type PageAnswer = {
  status: number
  location: string | undefined
  headers: Record<string, string | string[] | undefined>
  html: string
}

/** A page as a browser asks for it, without following where it leads. */
export async function getPage(url: string): Promise<PageAnswer> {
  return answerOf(await request(url))
}

/** Sends a form as a browser does. */
export async function postForm(url: string, fields: Record<string, string> | [string, string][]): Promise<PageAnswer> {
  const body = new URLSearchParams(fields).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return answerOf(await request(url, { method: 'POST', headers, body }))
}

/** The hidden fields of a page's form to this path. */
export function hiddenFields(html: string, method: 'get' | 'post' = 'post'): Record<string, string> {
  const form = new RegExp(`<form[^>]* method="${method}"[^]*?</form>`).exec(html)?.[0] ?? ''
  const fields = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, value]))
}

async function answerOf(reply: Awaited<ReturnType<typeof request>>): Promise<PageAnswer> {
  const { location } = reply.headers
  return {
    status: reply.statusCode,
    location: typeof location === 'string' ? location : undefined,
    headers: reply.headers,
    html: await reply.body.text(),
  }
}
