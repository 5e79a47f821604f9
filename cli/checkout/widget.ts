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
    .description('print a checkout token, or with --decode what one says')
    .optionsGroup('A token that exists:')
    .option('--decode <token>', 'print what it says; - is standard input; exit code 3 when it is not good')
    .option('--check', 'ask the service what it makes of the token, and print that')
    .addHelpText('after', TOKEN_HELP)
    .action(action(runtime, TokenOptions, token))
  describing(widget.command('snippet'))
    .description("print what goes into a merchant's page, with a token in it")
    .addOption(new Option('--lang <language>', 'for which kind of page').choices(['html', 'react']).default('html'))
    .addHelpText('after', SNIPPET_HELP)
    .action(action(runtime, SnippetOptions, snippet))
  widget
    .command('demo')
    .description("print the address of the sandbox's demo page")
    .option('--open', 'open it in your browser too (BROWSER)')
    .addHelpText('after', '\nExamples:\n  svc checkout demo\n  svc checkout demo --open\n')
    .action(action(runtime, DemoOptions, demo))
}

/** What a token says, and whether it is signed: of every command that makes one. */
function describing(command: Command): Command {
  return command
    .optionsGroup('The payment:')
    .option('--amount <amount>', 'a decimal amount, such as 50.00')
    .option('--currency <code>', 'such as GBP')
    .option('--remittance-reference <text>', 'what the payer reads on the statement, at most 18 characters')
    .option('--payer-name <name>', 'at most 140 characters')
    .option('--debtor-account <number>', "the payer's account: sort code and account number, or an IBAN")
    .optionsGroup('The page:')
    .option('--return-url <url>', "where the payer goes afterwards (in the sandbox a page of the service's own)")
    .option('--callback-origin <origin>', 'of the pages that show the checkout (that of --return-url)')
    .option('--merchant-name <name>', 'as your page calls you; payers see your trading name, whatever it is')
    .optionsGroup('The token:')
    .option('--expires-in <duration>', 'how long it can be used', '1h')
    .option('--jti <text>', 'sets it apart from others that say the same (random)')
    .addOption(new DataOption('--sign', 'signed, or not at all').conflicts('unsigned'))
    .option('--unsigned', 'not signed, as the sandbox takes it too')
    .option('--secret-file <path>', 'the signing secret in a file; - is standard input (SVC_WEBHOOK_SECRET)')
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
