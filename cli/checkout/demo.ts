import { z } from 'zod'
import { browserCommand, openBrowser } from '../client/auth/login-browser.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { isLive } from '../client/auth/service-info.ts'

export const DemoOptions = z.object({ open: z.boolean().default(false) })

/** `svc checkout demo`: the shop's page stands on 127.0.0.1, and takes the checkout from localhost, another origin. */
export async function demo(
  context: Context,
  { options }: CommandInput<z.infer<typeof DemoOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  if (await isLive(client))
    throw new CliError('LIVE_MODE', `${client.apiUrl} is live: there is no demo page`, {
      exit: EXIT.notFound,
      hint: 'for a sandbox of your own: svc up\nfor your page: svc checkout snippet --amount 50.00 --currency GBP --return-url https://shop.example/thanks',
    })
  const { page, widget } = addressesOf(client.apiUrl)
  const { print, io } = context
  if (print.isMachine) print.record({ item: { demo_url: page, widget_origin: widget }, id: page, lines: [] })
  else io.stdout.write(`${page}\n`)
  if (options.open) await open(context, page)
  return undefined
}

function addressesOf(apiUrl: string): { page: string; widget: string } {
  const page = new URL('/widget-demo.html', apiUrl)
  const widget = new URL(apiUrl)
  if (/^(localhost|127\.0\.0\.1)$/.test(page.hostname)) {
    page.hostname = '127.0.0.1'
    widget.hostname = 'localhost'
  }
  return { page: page.href, widget: widget.origin }
}

/** The address has been printed: that no browser opens is no failure. */
async function open({ io, note }: Context, url: string): Promise<void> {
  const command = browserCommand(io.env, process.platform, url)
  if (command === undefined || !(await openBrowser(command))) note('No browser could be opened: the address is above.')
}
