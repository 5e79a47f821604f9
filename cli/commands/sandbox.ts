import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { changing } from '../change.ts'
import { action } from '../context.ts'
import type { Runtime } from '../context.ts'
import { IDENTITY_KINDS } from '../up/plan.ts'
import { raising } from './disputes.ts'
import { DisputeOptions, disputeLikePayer } from './payments/dispute.ts'
import { addBank } from './sandbox/bank.ts'
import { AdvanceOptions, advance } from './sandbox/clock.ts'
import { RunOptions, run } from './sandbox/run.ts'
import { ValidateOptions, list, schema, show, validate } from './sandbox/scenarios.ts'

/** `svc sandbox`: stories that a merchant's integration lives through, played against a sandbox. */
export function addSandbox(program: Command, runtime: Runtime): void {
  const sandbox = program
    .command('sandbox')
    .helpCommand(false)
    .description('play scenarios against a sandbox, let time pass in it, be the payer or the bank')
  addRun(sandbox, runtime)
  addScenarios(sandbox, runtime)
  changing(raising(sandbox.command('dispute')))
    .description('dispute a payment as its payer would')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox dispute a2b4358c --reason ITEM_NOT_RECEIVED --statement "nothing came"\n',
    )
    .action(action(runtime, DisputeOptions, disputeLikePayer))
  const clock = sandbox.command('clock').helpCommand(false).description('let time pass')
  clock
    .command('advance')
    .description('let time pass for one merchant; what becomes due on the way happens, in its order')
    .argument('<duration>', 'such as 90s, 5m, 11h or 7d')
    .option('--merchant <merchant>', 'whose time passes: its id, realm or client id (the demo merchant)')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox clock advance 11h\n  svc sandbox clock advance 2h --merchant acme-ltd\n',
    )
    .action(action(runtime, AdvanceOptions, advance))
  addBank(sandbox, runtime)
}

function addRun(sandbox: Command, runtime: Runtime): void {
  sandbox
    .command('run')
    .description('play scenarios; exit code 3 when one fails')
    .argument('<scenarios...>', 'files, folders, or names of built-in scenarios')
    .option('--only <case>', 'only this case: its number, or a part of its name')
    .option('--bail', 'stop after the first case that fails')
    .option('--parallel <count>', 'how many cases are played at once, 1 to 32', '1')
    .option('--var <name=value>', "a variable; wins over the file's own; may be repeated", collect)
    .option('--timeout <duration>', 'how long one case may take', '60s')
    .option('--ephemeral', 'start a service for this run alone, and leave nothing of it')
    .addOption(
      new Option('--idp <kind>', 'who proves identities in it (embedded): real tokens, or none').choices(
        IDENTITY_KINDS,
      ),
    )
    .option('--auth-url <url>', 'where the Keycloak of --idp keycloak is (SVC_AUTH_URL)')
    .option(
      '--reporter <form>',
      'pretty, tap, junit or json, each also into a file: junit=out.xml; may be repeated',
      collect,
    )
    .addHelpText('after', RUN_EXAMPLES)
    .action(action(runtime, RunOptions, run))
}

const RUN_EXAMPLES = `
Every case makes a merchant and a webhook receiver of its own, so cases never meet, on a shared service neither. The
merchant is made as an operator: the one of svc up, or whoever has signed in.

Examples:
  svc sandbox run happy-path                                            a scenario that comes with svc
  svc sandbox run test/scenarios --ephemeral                            all files of a folder, with a service for them alone
  svc sandbox run shop.yaml --only 2 --var amount=12.50
  svc sandbox run test/scenarios --reporter tap --reporter junit=out.xml
`

function addScenarios(sandbox: Command, runtime: Runtime): void {
  const scenarios = sandbox
    .command('scenarios')
    .helpCommand(false)
    .description('look at scenarios, and check files of your own')
  scenarios
    .command('list')
    .description('list the scenarios that come with svc')
    .addHelpText('after', '\nExamples:\n  svc sandbox scenarios list\n')
    .action(action(runtime, z.object({}), list))
  scenarios
    .command('show')
    .description('print a scenario that comes with svc, to read it or to begin your own with')
    .argument('<name>', 'as svc sandbox scenarios list names it')
    .addHelpText('after', '\nExamples:\n  svc sandbox scenarios show refund > refund.yaml\n')
    .action(action(runtime, z.object({}), show))
  scenarios
    .command('validate')
    .description('check files without a service; exit code 2 when something is wrong')
    .argument('<scenarios...>', 'files, folders, or names of built-in scenarios')
    .option('--var <name=value>', 'a variable; may be repeated', collect)
    .addHelpText('after', '\nExamples:\n  svc sandbox scenarios validate test/scenarios\n')
    .action(action(runtime, ValidateOptions, validate))
  scenarios
    .command('schema')
    .description('print the JSON Schema of scenario files, for editors')
    .addHelpText('after', '\nExamples:\n  svc sandbox scenarios schema > scenario.schema.json\n')
    .action(action(runtime, z.object({}), schema))
}

function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value]
}
