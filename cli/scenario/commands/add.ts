import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { changing } from '../../kit/change.ts'
import { collect } from '../../kit/option-values.ts'
import { action } from '../../kit/context.ts'
import type { Runtime } from '../../kit/context.ts'
import { IDENTITY_KINDS } from '../../service/up/plan.ts'
import { MigrateOptions, migrate } from './migrate.ts'
import { run } from './run.ts'
import { RunOptions } from './run-options.ts'
import { ListOptions, CreateOptions, ValidateOptions, list, schema, show, create, validate } from './scenarios.ts'
import { TriggerOptions, trigger } from './trigger.ts'

/** `svc run`, which `svc run` is too. */
export function addRun(command: Command, runtime: Runtime): void {
  command
    .argument('<scenarios...>', 'files, folders, or names of built-in scenarios')
    .option('--only <case>', 'only this case: its number, or a part of its name')
    .option('--tag <tag>', 'only cases that bear this tag; may be repeated', collect)
    .option('--bail', 'stop after the first case that fails')
    .option('--parallel <count>', 'how many cases are played at once, 1 to 32', '1')
    .option('--var <name=value>', "a variable; wins over the file's own; may be repeated", collect)
    .option('--timeout <duration>', 'how long one case may take', '60s')
    .option('--seed <text>', 'what choices and the order of cases follow from; with --ephemeral also ids and jitter')
    .option('--repeat <count>', 'play everything so often, 1 to 9999: to find what fails only sometimes', '1')
    .option('--watch', 'play again whenever a file changes')
    .option('--allow-exec', "let steps exec run commands: only for files that you trust as you'd trust a script")
    .option('--keep', 'tell the ids of what was made; with --ephemeral, keep its data to look at')
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
Every case makes a merchant and a webhook receiver of its own, so cases never
meet, on a shared service neither. The merchant is made as an operator: the one
of svc up, or whoever has signed in. With --ephemeral and --seed the order, the
ids and the retries are the same each time.

Examples:
  svc run happy-path                         it comes with svc
  svc run test/scenarios --ephemeral         on a service of its own
  svc run shop.yaml --only 2 --var amount=12.50
  svc run test/scenarios --reporter tap --reporter junit=out.xml
  svc run test/scenarios --ephemeral --parallel 4 --seed 7
  svc run shop.yaml --ephemeral --watch      again at each change
`

/** `svc trigger`. */
export function addTrigger(command: Command, runtime: Runtime): void {
  changing(command, 'say which steps would be played, and play nothing')
    .argument('[event]', 'such as payment.settled; --list shows all')
    .option('--payment <payment>', 'go on with this payment, from wherever it is')
    .option('--set <name=value>', 'such as amount=10.00; may be repeated', collect)
    .option('--edit', 'change the steps in your editor first')
    .option('--show', 'print the steps, and play nothing')
    .option('--list', 'list the events, what happens, and to which payments it can')
    .option('--timeout <duration>', 'how long all of it may take', '60s')
    .addHelpText('after', TRIGGER_EXAMPLES)
    .action(action(runtime, TriggerOptions, trigger))
}

const TRIGGER_EXAMPLES = `
Everything that the event needs happens for real, as the merchant that you are
signed in as; some of it is done by the payer, the bank or an operator, which
takes the operator's login as well: svc up has it.

Examples:
  svc trigger payment.settled
  svc trigger payment.partially_refunded --set part=5.00
  svc trigger dispute.opened --payment a2b4358c
  svc trigger dispute.resolved --show > resolved.yaml
`

/** `svc scenarios`. */
export function addScenarios(scenarios: Command, runtime: Runtime): void {
  scenarios.addHelpText('after', '\nExamples:\n  svc scenarios list\n  svc scenarios validate test/scenarios\n')
  scenarios
    .command('list')
    .description('list the scenarios that come with svc')
    .option('--tag <tag>', 'only those that bear this tag; may be repeated', collect)
    .addHelpText('after', '\nExamples:\n  svc scenarios list\n  svc scenarios list --tag webhooks\n')
    .action(action(runtime, ListOptions, list))
  scenarios
    .command('show')
    .description('print a scenario that comes with svc, to read it or to begin your own with')
    .argument('<name>', 'as svc scenarios list names it')
    .addHelpText('after', '\nExamples:\n  svc scenarios show refund > refund.yaml\n')
    .action(action(runtime, z.object({}), show))
  scenarios
    .command('validate')
    .description('check files without a service; exit code 2 when something is wrong')
    .argument('<scenarios...>', 'files, folders, or names of built-in scenarios')
    .option('--var <name=value>', 'a variable; may be repeated', collect)
    .addHelpText('after', '\nExamples:\n  svc scenarios validate test/scenarios\n')
    .action(action(runtime, ValidateOptions, validate))
  changing(scenarios.command('migrate'), 'show the steps before and after, and write nothing')
    .description('write steps with the names that verbs have today, where files have older ones')
    .argument('<scenarios...>', 'files or folders')
    .addHelpText(
      'after',
      '\nExamples:\n  svc scenarios migrate test/scenarios --dry-run\n  svc scenarios migrate refund.yaml\n',
    )
    .action(action(runtime, MigrateOptions, migrate))
  scenarios
    .command('create')
    .description('write a scenario with comments, to begin your own with; it is valid and passes')
    .argument('<name>', 'what the story is called')
    .option('--file <path>', 'where to (the name, with .yaml); never over a file that is there')
    .addHelpText(
      'after',
      '\nExamples:\n  svc scenarios create "refund in two parts"\n  svc scenarios create refund --file test/scenarios/refund.yaml\n',
    )
    .action(action(runtime, CreateOptions, create))
  scenarios
    .command('schema')
    .description('print the JSON Schema of scenario files, for editors')
    .addHelpText('after', '\nExamples:\n  svc scenarios schema > scenario.schema.json\n')
    .action(action(runtime, z.object({}), schema))
}
