import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { changing } from '../../kit/change.ts'
import { collect, subcommand } from '../../kit/option-values.ts'
import { action } from '../../kit/context.ts'
import type { Runtime } from '../../kit/context.ts'
import { IDENTITY_KINDS } from '../../service/up/plan.ts'
import { run } from './run.ts'
import { RunOptions } from './run-options.ts'
import { ListOptions, CreateOptions, ValidateOptions, list, schema, show, create, validate } from './scenarios.ts'
import { TriggerOptions, trigger } from './trigger.ts'

export function addRun(command: Command, runtime: Runtime): void {
  command
    .argument('<scenarios...>', 'Files, folders, or names of built-in scenarios')
    .option('--only <case>', 'Run only this case: its number, or part of its name')
    .option('--tag <tag>', 'Run only cases with this tag; may be repeated', collect)
    .option('--bail', 'Stop after the first failed case')
    .option('--parallel <count>', 'Number of cases that run at once, 1 to 32', '1')
    .option('--var <name=value>', "Variable; overrides the file's value; may be repeated", collect)
    .option('--timeout <duration>', 'Maximum time for each case', '60s')
    .option('--seed <text>', 'Seed of random values and case order; with --ephemeral also of ids')
    .option('--allow-exec', 'Allow exec steps to run commands; only for files that you trust')
    .option('--keep', 'Print the ids of created objects; with --ephemeral, keep its data')
    .option('--ephemeral', 'Start a temporary service for this run')
    .addOption(
      new Option('--idp <kind>', 'Its identity provider (embedded); none trusts headers').choices(IDENTITY_KINDS),
    )
    .option('--auth-url <url>', 'Address of Keycloak for --idp keycloak (SVC_AUTH_URL)')
    .option('--reporter <form>', 'Format: pretty, tap, junit or json, or with a file: junit=out.xml', collect)
    .addHelpText('after', RUN_EXAMPLES)
    .action(action(runtime, RunOptions, run))
}

const RUN_EXAMPLES = `
Exit code 3 if a case fails. Each case creates its own merchant and webhook
receiver, so cases never interfere, even on a shared service. The merchant is
created by the operator of svc up, or the one who is signed in. With
--ephemeral and --seed the order, ids and retries are the same each time.

Examples:
  svc run happy-path                         it comes with svc
  svc run test/scenarios --ephemeral         on a service of its own
  svc run shop.yaml --only 2 --var amount=12.50
  svc run test/scenarios --reporter tap --reporter junit=out.xml
  svc run test/scenarios --ephemeral --parallel 4 --seed 7
`

export function addTrigger(command: Command, runtime: Runtime): void {
  changing(command, 'Show which steps would run, and run none')
    .argument('[event]', 'Event type, such as payment.settled; --list shows all')
    .option('--set <name=value>', 'Set a value, such as amount=10.00; may be repeated', collect)
    .option('--edit', 'Edit the steps in your editor first')
    .option('--show', 'Print the steps, and run none')
    .option('--list', 'List events and their steps')
    .option('--timeout <duration>', 'Maximum time for all steps', '60s')
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
  svc trigger dispute.opened --set reason=DUPLICATE_PAYMENT
  svc trigger dispute.resolved --show > resolved.yaml
`

export function addScenarios(sandbox: Command, runtime: Runtime): void {
  const scenarios = subcommand(sandbox, 'scenarios', 'List, write and check scenario files')
  scenarios.addHelpText(
    'after',
    '\nExamples:\n  svc sandbox scenarios list\n  svc sandbox scenarios validate test/scenarios\n',
  )
  subcommand(scenarios, 'list', 'List built-in scenarios')
    .option('--tag <tag>', 'Filter by tag; may be repeated', collect)
    .addHelpText('after', '\nExamples:\n  svc sandbox scenarios list\n  svc sandbox scenarios list --tag webhooks\n')
    .action(action(runtime, ListOptions, list))
  subcommand(scenarios, 'show', 'Print a built-in scenario')
    .argument('<name>', 'Scenario name, from svc sandbox scenarios list')
    .addHelpText('after', '\nExamples:\n  svc sandbox scenarios show refund > refund.yaml\n')
    .action(action(runtime, z.object({}), show))
  subcommand(scenarios, 'validate', 'Validate scenario files without a service')
    .argument('<scenarios...>', 'Files, folders, or names of built-in scenarios')
    .option('--var <name=value>', 'Variable; may be repeated', collect)
    .addHelpText(
      'after',
      '\nExit code 2 if a file is invalid.\n\nExamples:\n  svc sandbox scenarios validate test/scenarios\n',
    )
    .action(action(runtime, ValidateOptions, validate))
  subcommand(scenarios, 'create', 'Create a commented scenario that passes')
    .argument('<name>', 'Name of the scenario')
    .option('--file <path>', 'Output file (the name, with .yaml); never overwrites a file')
    .addHelpText(
      'after',
      '\nExamples:\n  svc sandbox scenarios create "refund in two parts"\n  svc sandbox scenarios create refund --file test/scenarios/refund.yaml\n',
    )
    .action(action(runtime, CreateOptions, create))
  subcommand(scenarios, 'schema', 'Print the JSON Schema of scenario files')
    .addHelpText('after', '\nExamples:\n  svc sandbox scenarios schema > scenario.schema.json\n')
    .action(action(runtime, z.object({}), schema))
}
