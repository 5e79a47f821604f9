import { Argument } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { OPEN_BANKING_PATH } from '../../../src/wire/open-banking.ts'
import { browserCommand, openBrowser } from '../../client/auth/login-browser.ts'
import { discover } from '../../client/auth/service-info.ts'
import { action } from '../../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../../kit/context.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'

const PAGES = [
  { name: 'demo', path: '/widget-demo.html', what: 'the demo of the checkout', inSandboxOnly: true },
  { name: 'payer', path: '/hub', what: 'the payer hub', inSandboxOnly: false },
  { name: 'shop', path: '/dev/merchant-harness', what: 'a form that makes payments', inSandboxOnly: true },
  { name: 'api', path: '/openapi.json', what: 'the OpenAPI description', inSandboxOnly: false },
  {
    name: 'open-banking',
    path: `${OPEN_BANKING_PATH}/openapi.json`,
    what: 'that of the Open Banking API',
    inSandboxOnly: false,
  },
  { name: 'ready', path: '/readyz', what: 'whether the service is ready', inSandboxOnly: false },
] as const

export function addOpen(command: Command, runtime: Runtime): void {
  const names = PAGES.map(({ name, what }) => `  ${name.padEnd(14)}${what}`)
  command
    .addArgument(new Argument('[page]', 'Page').choices(PAGES.map(({ name }) => name)).default('demo'))
    .option('--print', 'Print the address only')
    .addHelpText('after', `\nPages:\n${names.join('\n')}\n\nExamples:\n  svc open demo\n  svc open payer --print\n`)
    .action(action(runtime, OpenOptions, open))
}

const OpenOptions = z.object({ print: z.boolean().default(false) })

/** Prints the address whatever happens: a browser may open on another screen, or there may be none. */
async function open(context: Context, { args, options }: InputOf<typeof OpenOptions>): Promise<CommandResult> {
  const page = PAGES.find(({ name }) => name === args[0]) ?? PAGES[0]
  const { apiUrl } = context.client()
  const { mode } = await discover(context.http(), apiUrl)
  if (page.inSandboxOnly && mode === 'live')
    throw new CliError('SANDBOX_ONLY', `${page.what} is of the sandbox, and ${apiUrl} is live`, { exit: EXIT.notFound })
  const url = `${apiUrl}${page.path}`
  const { print } = context
  if (options.print && !print.isMachine) print.text(`${url}\n`)
  else print.record({ item: { page: page.name, url, mode }, id: url, lines: [['Page', url]] })
  const command = options.print ? undefined : browserCommand(context.io.env, process.platform, url)
  if (command !== undefined && !(await openBrowser(command))) context.note(`${command[0]} could not be started.`)
}
