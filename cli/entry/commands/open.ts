import { OPEN_BANKING_PATH } from '../../../src/wire/open-banking.ts'
import { CliError } from '../../base/errors.ts'
import { browserCommand, openBrowser } from '../../client/auth/login-browser.ts'
import { discover } from '../../client/auth/service-info.ts'
import { command } from '../../kit/command.ts'

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

/** Prints the address whatever happens: a browser may open on another screen, or there may be none. */
export const open = command({
  command: 'open',
  summary: 'Open a page of the service in the browser',
  details: `Pages:\n${PAGES.map(({ name, what }) => `  ${name.padEnd(14)}${what}`).join('\n')}`,
  examples: ['svc open demo', 'svc open payer --print'],
  flags: {
    page: { value: 'page', summary: 'Page', positional: true, choices: PAGES.map(({ name }) => name), initial: 'demo' },
    print: { summary: 'Print the address only' },
  },
  async run(context, input) {
    const page = PAGES.find(({ name }) => name === input.page) ?? PAGES[0]
    const { apiUrl } = context.client()
    const { mode } = await discover(context.http(), apiUrl)
    if (page.inSandboxOnly && mode === 'live')
      throw new CliError('SANDBOX_ONLY', `${page.what} is of the sandbox, and ${apiUrl} is live`)
    const url = `${apiUrl}${page.path}`
    const { print } = context
    if (input.print && !print.isMachine) print.text(`${url}\n`)
    else print.record({ page: page.name, url, mode }, [['Page', url]])
    const command = input.print ? undefined : browserCommand(context.io.env, process.platform, url)
    if (command !== undefined && !(await openBrowser(command))) context.note(`${command[0]} could not be started.`)
  },
})
