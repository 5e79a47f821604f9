import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Test } from 'tap'

/** What passes between this process and a bank and must be written nowhere. */
export type Secret = { kind: string; value: string }

const IN_REQUESTS = ['client_assertion', 'code', 'code_verifier', 'refresh_token', 'request']
const IN_ANSWERS = ['access_token', 'refresh_token', 'id_token', 'request_uri']

type Channelled = { request: { origin: string; path: string; headers: string[] }; chunk: Uint8Array }

/** Listens to every request of this process to an address, and collects the secrets in it and in its answer. */
export function collectSecrets(t: Test, origin: string): () => Secret[] {
  const found = new Map<string, string>()
  const sent = new Map<object, string>()
  const received = new Map<object, string>()
  const note = (kind: string, value: unknown): void => {
    if (typeof value === 'string' && value.length > 8) found.set(value, kind)
  }
  const listen = (name: string, heard: (message: Channelled) => void): void => {
    const listener = (message: unknown): void => {
      const channelled = message as Channelled
      if (channelled.request.origin === origin) heard(channelled)
    }
    subscribe(name, listener)
    t.teardown(() => unsubscribe(name, listener))
  }
  const gather =
    (texts: Map<object, string>) =>
    ({ request, chunk }: Channelled) =>
      void texts.set(request, (texts.get(request) ?? '') + Buffer.from(chunk).toString('utf8'))
  listen('undici:request:create', ({ request: { headers } }) => {
    const at = headers.findIndex((each) => each.toLowerCase() === 'authorization')
    if (at >= 0) note('access token', headers[at + 1]?.replace(/^Bearer /, ''))
  })
  listen('undici:request:bodyChunkSent', gather(sent))
  listen('undici:request:bodyChunkReceived', gather(received))
  return () => {
    for (const text of sent.values()) {
      if (text.startsWith('eyJ')) note('registration', text)
      const form = new URLSearchParams(text)
      for (const name of IN_REQUESTS) note(name, form.get(name))
    }
    for (const text of received.values())
      for (const name of IN_ANSWERS) note(name, new RegExp(`"${name}":"([^"]+)"`).exec(text)?.[1])
    return [...found].map(([value, kind]) => ({ kind, value }))
  }
}
