import { writeFileSync } from 'node:fs'
import { z } from 'zod'
import { OPEN_BANKING_PATH } from '../../src/wire/open-banking.ts'
import { CliError } from '../base/errors.ts'
import { EXIT, exitOfStatus } from '../base/exit-codes.ts'
import { parsedJson } from '../base/json.ts'
import { yaml } from '../base/yaml.ts'
import { noCredentials } from '../client/auth/credentials.ts'
import { sendProven } from '../client/call.ts'
import { command } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { targetFile } from '../output/target-file.ts'

const PATHS = { a: `${OPEN_BANKING_PATH}/openapi.json`, b: '/openapi.json' } as const

export const openapi = command({
  command: 'api openapi',
  summary: 'Print the OpenAPI description',
  examples: [
    'svc api openapi --file openapi.json',
    'svc api openapi --surface a -o yaml',
    'svc api openapi --offline -q info.version',
  ],
  flags: {
    surface: {
      value: 'surface',
      summary: 'API: a is Open Banking, b is payment acquiring',
      choices: ['a', 'b'],
      initial: 'b',
    },
    offline: { summary: 'Print that of this version, without a service' },
    file: { value: 'path', summary: 'Output file' },
    force: { summary: 'Overwrite an existing file' },
  },
  async run(context, input) {
    const { print, io } = context
    const file = targetFile(io.cwd, input.file, input)?.path
    const document = input.offline ? await offline(input.surface) : await fromService(context, PATHS[input.surface])
    if (file !== undefined) {
      writeFileSync(
        file,
        print.mode === 'yaml'
          ? yaml().stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })
          : `${JSON.stringify(document, null, 2)}\n`,
      )
      context.note(`Written to ${file}`)
    } else if (print.isMachine) print.record(document, [], { id: PATHS[input.surface] })
    else print.text(`${JSON.stringify(document, null, 2)}\n`)
  },
})

/** Made from the contract and the routes alone: nothing of the system runs. */
async function offline(surface: 'a' | 'b'): Promise<Record<string, unknown>> {
  const { openApiDocument } = await import('../../src/openapi/document.ts')
  const identity = { kind: 'none', authUrl: null } as const
  return openApiDocument({ publicUrl: 'http://127.0.0.1:8080', config: { mode: 'sandbox' }, identity }, surface)
}

async function fromService(context: Context, path: string): Promise<Record<string, unknown>> {
  const client = { ...context.client(), credentials: noCredentials() }
  const headers = { accept: 'application/json' }
  const url = `${client.apiUrl}${path}`
  const { status, text } = await sendProven(
    client,
    { access: ['anyone'] },
    { url, method: 'GET', headers, body: null, isRepeatable: true },
  )
  const document = z.looseObject({ openapi: z.string() }).safeParse(parsedJson(text)).data
  if (status === 200 && document !== undefined) return document
  throw new CliError('NOT_THE_SERVICE', `${url} answered ${status}, and no OpenAPI description`, {
    exit: status < 400 ? EXIT.failure : exitOfStatus(status),
    status,
    hint: 'svc api openapi --offline',
  })
}
