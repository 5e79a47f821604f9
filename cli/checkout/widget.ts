import { Option } from 'commander'
import type { Command } from 'commander'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { DemoOptions, demo } from './demo.ts'
import { SnippetOptions, snippet } from './snippet.ts'
import { TokenOptions, token } from './token.ts'
import { DataOption } from '../kit/option-values.ts'

/** What puts the checkout on a page: tokens, the snippet, the demo (decision 40). */
export function addWidget(widget: Command, runtime: Runtime): void {
  widget.addHelpText('after', WIDGET_EXAMPLES)
  describing(widget.command('token'))
    .description('Print a checkout token, or decode one')
    .optionsGroup('A token that exists:')
    .option('--decode <token>', 'Decode this token; - is standard input; exit code 3 if it is invalid')
    .option('--check', 'Validate the token at the service')
    .addHelpText('after', TOKEN_HELP)
    .action(action(runtime, TokenOptions, token))
  describing(widget.command('snippet'))
    .description("Print the snippet for a merchant's page")
    .addOption(new Option('--lang <language>', 'Kind of page').choices(['html', 'react']).default('html'))
    .addHelpText('after', SNIPPET_HELP)
    .action(action(runtime, SnippetOptions, snippet))
  widget
    .command('demo')
    .description('Print the address of the demo page')
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
  svc checkout token --amount 50.00 --currency GBP --check
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
  svc checkout token --amount 50.00 --currency GBP | svc checkout token --decode - --check
`

const SNIPPET_HELP = `${SECRET_HELP}
Each order has a token of its own, which your server makes: the one printed here is for a first try.

Examples:
  svc checkout snippet --amount 50.00 --currency GBP --return-url https://shop.example/thanks
  svc checkout snippet --amount 50.00 --currency GBP --callback-origin http://localhost:4000 --lang react
  svc checkout snippet --amount 50.00 --currency GBP --return-url https://shop.example/thanks --sign
`
