import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { browserCommand, openBrowser } from '../client/auth/login-browser.ts'
import { isLive } from '../client/auth/service-info.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { DataOption, subcommand } from '../kit/option-values.ts'
import { decode } from './decode.ts'
import { DescribeOptions, endOf, makeToken } from './make-token.ts'
import { SnippetOptions, snippet } from './snippet.ts'

/** What puts the checkout on a page: tokens, the snippet, the demo (decision 40). */
export function addWidget(widget: Command, runtime: Runtime): void {
  widget.addHelpText('after', WIDGET_EXAMPLES)
  describing(subcommand(widget, 'token', 'Print a checkout token, or decode one'))
    .optionsGroup('A token that exists:')
    .option('--decode <token>', 'Decode this token; - is standard input; exit code 3 if it is invalid')
    .addHelpText('after', TOKEN_HELP)
    .action(action(runtime, TokenOptions, token))
  describing(subcommand(widget, 'snippet', "Print the snippet for a merchant's page"))
    .addOption(new Option('--lang <language>', 'Kind of page').choices(['html', 'react']).default('html'))
    .addHelpText('after', SNIPPET_HELP)
    .action(action(runtime, SnippetOptions, snippet))
  subcommand(widget, 'demo', 'Print the address of the demo page')
    .option('--open', 'Open it in your browser (BROWSER)')
    .addHelpText('after', '\nExamples:\n  svc checkout demo\n  svc checkout demo --open\n')
    .action(action(runtime, DemoOptions, demo))
}

/** What a token says, and whether it is signed: of every command that makes one. */
function describing(command: Command): Command {
  return command
    .optionsGroup('The payment:')
    .option('--amount <amount>', 'Decimal amount, such as 50.00')
    .option('--currency <code>', 'Currency code, such as GBP')
    .option('--remittance-reference <text>', "Reference on the payer's statement, at most 18 characters")
    .option('--payer-name <name>', 'Name of the payer, at most 140 characters')
    .option('--debtor-account <number>', "The payer's account: sort code and account number, or IBAN")
    .optionsGroup('The page:')
    .option('--return-url <url>', 'Where the payer goes afterwards (in the sandbox a page of the service)')
    .option('--callback-origin <origin>', 'Origin of the pages that show the checkout (that of --return-url)')
    .option('--merchant-name <name>', 'Merchant name in the token; payers see your trading name')
    .optionsGroup('The token:')
    .option('--expires-in <duration>', 'Lifetime of the token', '1h')
    .option('--jti <text>', 'Unique token id (random)')
    .addOption(new DataOption('--sign', 'Sign the token, or fail').conflicts('unsigned'))
    .option('--unsigned', 'Do not sign; sandbox only')
    .option('--secret-file <path>', 'File with the signing secret; - is standard input (SVC_WEBHOOK_SECRET)')
}

const WIDGET_EXAMPLES = `
Examples:
  svc checkout snippet --amount 50.00 --currency GBP --return-url https://shop.example/thanks
  svc checkout token --amount 50.00 --currency GBP
  svc checkout demo --open
`

const SECRET_HELP = `
The webhook signing secret never stands on the command line: it comes from --secret-file, SVC_WEBHOOK_SECRET, or the
svc.json of the state directory. A live service takes no token without a signature.
`

const TOKEN_HELP = `${SECRET_HELP}
Examples:
  svc checkout token --amount 50.00 --currency GBP --return-url https://shop.example/thanks
  svc checkout token --amount 50.00 --currency GBP --sign --secret-file secret.txt
  svc checkout token --decode - < token.txt
  svc checkout token --amount 50.00 --currency GBP | svc checkout token --decode -
`

const SNIPPET_HELP = `${SECRET_HELP}
Each order has a token of its own, which your server makes: the one printed here is for a first try.

Examples:
  svc checkout snippet --amount 50.00 --currency GBP --return-url https://shop.example/thanks
  svc checkout snippet --amount 50.00 --currency GBP --callback-origin http://localhost:4000 --lang react
  svc checkout snippet --amount 50.00 --currency GBP --return-url https://shop.example/thanks --sign
`

const TokenOptions = DescribeOptions.extend({ decode: z.string().optional() })

/** The token alone, for a page or a variable; with JSON what it says, too. */
async function token(context: Context, { options }: InputOf<typeof TokenOptions>): Promise<CommandResult> {
  const { decode: given } = options
  if (given !== undefined) return decode(context, { ...options, decode: given })
  const { token: made, isSigned, content } = await makeToken(context, context.client(), options)
  const { print, io, note } = context
  if (print.isMachine) {
    print.record({ item: { token: made, signed: isSigned, expires_at: endOf(content), content }, id: made, lines: [] })
    return undefined
  }
  // Without a page of the merchant's own it is good for the service's alone.
  if (options.returnUrl === undefined && options.callbackOrigin === undefined)
    note(
      `For pages of ${content.callbackOrigin} alone, the service's own; for one of yours: --callback-origin or --return-url`,
    )
  io.stdout.write(`${made}\n`)
}

const DemoOptions = z.object({ open: z.boolean().default(false) })

/** The shop's page stands on 127.0.0.1, and takes the checkout from localhost, another origin. */
async function demo(context: Context, { options }: InputOf<typeof DemoOptions>): Promise<CommandResult> {
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
  if (print.isMachine) print.record({ item, id: page.href, lines: [] })
  else io.stdout.write(`${page.href}\n`)
  // The address has been printed: that no browser opens is no failure.
  const command = options.open ? browserCommand(io.env, process.platform, page.href) : undefined
  if (options.open && (command === undefined || !(await openBrowser(command))))
    note('No browser could be opened: the address is above.')
}
