import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { browserCommand, openBrowser } from '../client/auth/login-browser.ts'
import { isLive } from '../client/auth/service-info.ts'
import { command, grouped } from '../kit/command.ts'
import { decode } from './decode.ts'
import { DESCRIPTION, SECRETS, endOf, makeToken } from './make-token.ts'

/** The token alone, for a page or a variable; with JSON what it says, too. */
export const token = command({
  command: 'checkout token',
  summary: 'Print a checkout token, or decode one',
  details: SECRETS,
  examples: [
    'svc checkout token --amount 50.00 --currency GBP --return-url https://shop.example/thanks',
    'svc checkout token --amount 50.00 --currency GBP --sign --secret-file secret.txt',
    'svc checkout token --decode - < token.txt',
    'svc checkout token --amount 50.00 --currency GBP | svc checkout token --decode -',
  ],
  flags: {
    ...DESCRIPTION,
    ...grouped('A token that exists:', {
      decode: { value: 'token', summary: 'Decode this token; - is standard input; exit code 3 if it is invalid' },
    }),
  },
  async run(context, input) {
    const { decode: given } = input
    if (given !== undefined) return decode(context, { ...input, decode: given })
    const { token: made, isSigned, content } = await makeToken(context, context.client(), input)
    const { print, io, note } = context
    if (print.isMachine) {
      print.record({ token: made, signed: isSigned, expires_at: endOf(content), content }, [], { id: made })
      return undefined
    }
    // Without a page of the merchant's own it is good for the service's alone.
    if (input.returnUrl === undefined && input.callbackOrigin === undefined)
      note(
        `For pages of ${content.callbackOrigin} alone, the service's own; for one of yours: --callback-origin or --return-url`,
      )
    io.stdout.write(`${made}\n`)
  },
})

/** The shop's page stands on 127.0.0.1, and takes the checkout from localhost, another origin. */
export const demo = command({
  command: 'checkout demo',
  summary: 'Print the address of the demo page',
  examples: ['svc checkout demo', 'svc checkout demo --open'],
  flags: { open: { summary: 'Open it in your browser (BROWSER)' } },
  async run(context, input) {
    const { apiUrl } = context.client()
    if (await isLive(context.client()))
      throw new CliError('LIVE_MODE', `${apiUrl} is live: there is no demo page`, {
        exit: EXIT.notFound,
        hint: 'for a sandbox of your own: svc up\nfor your page: svc checkout snippet --amount 50.00 --currency GBP --return-url https://shop.example/thanks',
      })
    const page = new URL('/widget-demo.html', apiUrl)
    const widget = new URL(apiUrl)
    if (/^(localhost|127\.0\.0\.1)$/.test(page.hostname)) {
      page.hostname = '127.0.0.1'
      widget.hostname = 'localhost'
    }
    const { print, io, note } = context
    const item = { demo_url: page.href, widget_origin: widget.origin }
    if (print.isMachine) print.record(item, [], { id: page.href })
    else io.stdout.write(`${page.href}\n`)
    // The address has been printed: that no browser opens is no failure.
    const command = input.open ? browserCommand(io.env, process.platform, page.href) : undefined
    if (input.open && (command === undefined || !(await openBrowser(command))))
      note('No browser could be opened: the address is above.')
  },
})
