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

type Page = { path: string; what: string; inSandboxOnly: boolean }

/** The pages that a service has. */
const PAGES: Readonly<Record<string, Page>> = {
  payer: { path: '/hub', what: 'the payer hub', inSandboxOnly: false },
  demo: { path: '/widget-demo.html', what: 'the demo of the checkout', inSandboxOnly: true },
  shop: { path: '/dev/merchant-harness', what: 'a form that makes payments', inSandboxOnly: true },
  api: { path: '/openapi.json', what: 'the OpenAPI description', inSandboxOnly: false },
  'open-banking': {
    path: `${OPEN_BANKING_PATH}/openapi.json`,
    what: 'that of the Open Banking API',
    inSandboxOnly: false,
  },
  ready: { path: '/readyz', what: 'whether the service is ready', inSandboxOnly: false },
}

/** What people look for, and is no page: the command that shows it. */
const NO_PAGES: Readonly<Record<string, string>> = {
  portal: 'svc ui, or the commands for merchants: svc help',
  admin: 'svc ui, or the commands for operators: svc help',
  docs: 'svc docs',
  mail: 'svc sandbox mail list',
  checkout: 'with a token of your own: svc checkout token\nto try it: svc open demo',
}

export function addOpen(command: Command, runtime: Runtime): void {
  const names = Object.entries(PAGES).map(([name, { what }]) => `  ${name.padEnd(14)}${what}`)
  command
    .addArgument(
      new Argument('[page]', 'Page').choices([...Object.keys(PAGES), ...Object.keys(NO_PAGES)]).default('demo'),
    )
    .option('--print', 'Print the address only')
    .addHelpText('after', `\nPages:\n${names.join('\n')}\n\nExamples:\n  svc open demo\n  svc open payer --print\n`)
    .action(action(runtime, OpenOptions, open))
}

const OpenOptions = z.object({ print: z.boolean().default(false) })

/** Prints the address whatever happens: a browser may open on another screen, or there may be none. */
async function open(context: Context, { args, options }: InputOf<typeof OpenOptions>): Promise<CommandResult> {
  const name = args[0] ?? 'demo'
  const page = PAGES[name]
  if (page === undefined)
    throw new CliError('NO_PAGE', `the service has no page for ${name}`, { exit: EXIT.usage, hint: NO_PAGES[name] })
  const { apiUrl } = context.client()
  const { mode } = await discover(context.http(), apiUrl)
  if (page.inSandboxOnly && mode === 'live')
    throw new CliError('SANDBOX_ONLY', `${page.what} is of the sandbox, and ${apiUrl} is live`, { exit: EXIT.notFound })
  const url = `${apiUrl}${page.path}`
  const { print } = context
  if (options.print && !print.isMachine) print.text(`${url}\n`)
  else print.record({ item: { page: name, url, mode }, id: url, lines: [['Page', url]] })
  const command = options.print ? undefined : browserCommand(context.io.env, process.platform, url)
  if (command !== undefined && !(await openBrowser(command))) context.note(`${command[0]} could not be started.`)
}
