import { writeFileSync } from 'node:fs'
import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { OPEN_BANKING_PATH } from '../../src/wire/open-banking.ts'
import { noCredentials } from '../client/auth/credentials.ts'
import { sendProven } from '../client/call.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { EXIT, exitOfStatus } from '../base/exit-codes.ts'
import { targetFile } from '../output/target-file.ts'
import { yaml } from '../base/yaml.ts'
import { parsedJson } from '../base/json.ts'
import { subcommand } from '../kit/option-values.ts'

const PATHS = { a: `${OPEN_BANKING_PATH}/openapi.json`, b: '/openapi.json' } as const

export function addOpenApi(api: Command, runtime: Runtime): void {
  subcommand(api, 'openapi', 'Print the OpenAPI description')
    .addOption(
      new Option('--surface <surface>', 'API: a is Open Banking, b is payment acquiring')
        .choices(['a', 'b'])
        .default('b'),
    )
    .option('--offline', 'Print that of this version, without a service')
    .option('--file <path>', 'Output file')
    .option('--force', 'Overwrite an existing file')
    .addHelpText('after', HELP)
    .action(action(runtime, OpenApiOptions, openapi))
}

const HELP = `
Examples:
  svc api openapi --file openapi.json
  svc api openapi --surface a -o yaml
  svc api openapi --offline -q info.version
`

const OpenApiOptions = z.object({
  surface: z.enum(['a', 'b']),
  offline: z.boolean().default(false),
  file: z.string().optional(),
  force: z.boolean().default(false),
})

async function openapi(context: Context, { options }: InputOf<typeof OpenApiOptions>): Promise<CommandResult> {
  const { print, io } = context
  const file = targetFile(io.cwd, options.file, options)?.path
  const document = options.offline ? await offline(options.surface) : await fromService(context, PATHS[options.surface])
  if (file !== undefined) {
    writeFileSync(
      file,
      print.mode === 'yaml'
        ? yaml().stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })
        : `${JSON.stringify(document, null, 2)}\n`,
    )
    context.note(`Written to ${file}`)
  } else if (print.isMachine) print.record({ item: document, id: PATHS[options.surface], lines: [] })
  else print.text(`${JSON.stringify(document, null, 2)}\n`)
}

/** Made from the contract and the routes alone: nothing of the system runs. */
async function offline(surface: 'a' | 'b'): Promise<Record<string, unknown>> {
  const { openApiDocument } = await import('../../src/openapi.ts')
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
