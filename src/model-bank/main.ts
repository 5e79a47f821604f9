import { parseArgs } from 'node:util'
import { startModelBank } from './start.ts'

const REDIRECT_URI_DEFAULT = 'http://127.0.0.1:3000/bank/return'

/** node dist/src/model-bank/main.js --dir <dir> [--port 9443] [--control-port 9444] [--redirect-uri <uri>]... */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      dir: { type: 'string' },
      port: { type: 'string', default: '9443' },
      'control-port': { type: 'string', default: '9444' },
      'redirect-uri': { type: 'string', multiple: true, default: [REDIRECT_URI_DEFAULT] },
    },
  })
  if (values.dir === undefined)
    throw new Error('--dir is missing: the folder for the bank’s profile, keys and certificates')
  const bank = await startModelBank({
    dir: values.dir,
    port: Number(values.port),
    controlPort: Number(values['control-port']),
    redirectUris: values['redirect-uri'],
  })
  const { close, ...ready } = bank
  process.stdout.write(`${JSON.stringify({ ready: true, ...ready })}\n`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void close())
}

await main()
