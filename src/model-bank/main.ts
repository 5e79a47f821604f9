import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { QUIRK_NAMES, isQuirk } from './quirks.ts'
import { startModelBank } from './start.ts'
import { VERSIONS } from './versions.ts'

const REDIRECT_URI_DEFAULT = 'http://127.0.0.1:8080/bank/return'

/**
 * node dist/src/model-bank/main.js --dir <dir> [--port 9443] [--control-port 9444] [--version 3.1] [--redirect-uri
 * <uri>]... [--quirk <name>]... [--until-stdin-ends]
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      dir: { type: 'string' },
      port: { type: 'string', default: '9443' },
      'control-port': { type: 'string', default: '9444' },
      version: { type: 'string', default: '4.0' },
      quirk: { type: 'string', multiple: true, default: [] },
      // The end of the process that started it, also by SIGKILL: its ports are free for the next start.
      'until-stdin-ends': { type: 'boolean', default: false },
      'redirect-uri': { type: 'string', multiple: true, default: [REDIRECT_URI_DEFAULT] },
    },
  })
  if (values.dir === undefined)
    throw new Error('--dir is missing: the folder for the bank’s profile, keys and certificates')
  const version = VERSIONS.find(({ name }) => name === values.version)?.name
  if (version === undefined) throw new Error(`--version must be ${VERSIONS.map(({ name }) => name).join(' or ')}`)
  const unknown = values.quirk.find((name) => !isQuirk(name))
  if (unknown !== undefined) throw new Error(`unknown quirk ${unknown}; known: ${Object.keys(QUIRK_NAMES).join(', ')}`)
  // As OpenID Connect wants it of clients on the web: without this the bank registers them and then gives no token.
  const local = values['redirect-uri'].find((uri) => /^https:\/\/localhost(?=[:/]|$)/i.test(uri))
  if (local !== undefined)
    throw new Error(`--redirect-uri ${local}: localhost is rejected over https; name its address: ${addressOf(local)}`)
  const bank = await startModelBank({
    dir: resolve(values.dir),
    port: Number(values.port),
    controlPort: Number(values['control-port']),
    redirectUris: values['redirect-uri'],
    keepsState: true,
    version,
    quirks: values.quirk.filter(isQuirk),
  })
  const { close, ...ready } = bank
  process.stdout.write(`${JSON.stringify({ ready: true, ...ready })}\n`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close())
  if (values['until-stdin-ends'])
    process.stdin
      .once('close', () => void close())
      .resume()
      .unref()
}

function addressOf(uri: string): string {
  return Object.assign(new URL(uri), { hostname: '127.0.0.1' }).href
}

await main()
