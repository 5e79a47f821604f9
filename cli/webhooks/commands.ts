import { Argument, Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { DeliveryStatus } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { changing, dangerous } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import { withTimeRange } from '../kit/time-range.ts'
import type { Runtime } from '../kit/context.ts'
import { ListOptions, list, show } from './deliveries.ts'
import { PauseOptions, SetOptions, checkEndpoint, getEndpoint, setEndpoint, setPaused } from './endpoint.ts'
import { ReplayOptions, replay } from './replay.ts'
import { TailOptions, tail } from './tail.ts'
import { TestOptions, testEvent } from './test-event.ts'

/** `svc webhooks`: where they go, what became of them, and how a receiver proves where they come from. */
export function addWebhooks(webhooks: Command, runtime: Runtime): void {
  addEndpoint(webhooks, runtime)
  addDeliveries(webhooks, runtime)
  addSending(webhooks, runtime)
}

function addDeliveries(webhooks: Command, runtime: Runtime): void {
  webhooks
    .command('list')
    .description('list the last 50 deliveries')
    .addOption(new Option('--status <status>', 'only in this status').choices(DeliveryStatus.options))
    .addOption(new Option('--event <event>', 'only of this event').choices(EventType.options))
    .option('--payment <id>', 'only about this payment')
    .addHelpText(
      'after',
      '\nExamples:\n  svc webhooks list --status DEAD\n  svc webhooks list --payment a2b4358c -o jsonl\n',
    )
    .action(action(runtime, ListOptions, list))
  webhooks
    .command('show')
    .description('show a delivery: what was sent, and what was answered to each attempt')
    .argument('<delivery>', 'as svc webhooks list shows it, or the last 8 characters of its id')
    .addHelpText(
      'after',
      '\nExamples:\n  svc webhooks show a2b4358c\n  svc webhooks show a2b4358c -q payload        the exact text, as it is signed\n',
    )
    .action(action(runtime, z.object({}), show))
  webhooks
    .command('tail')
    .description('print deliveries and what becomes of them, as it happens')
    .addOption(new Option('--event <event>', 'only of this event').choices(EventType.options))
    .option('--payment <id>', 'only about this payment')
    .option('-n, --lines <count>', 'how many of before to begin with, 0 to 50', '10')
    .option('--timeout <duration>', 'end after this time: 30s, 5m')
    .addHelpText('after', '\nExamples:\n  svc webhooks tail\n  svc webhooks tail -n 0 -o jsonl\n')
    .action(action(runtime, TailOptions, tail))
}

function addSending(webhooks: Command, runtime: Runtime): void {
  changing(webhooks.command('test'))
    .description('send a made-up event to the endpoint, signed like any other')
    .addArgument(new Argument('[event]', 'which (payment.settled)').choices(EventType.options))
    .option('--wait', 'wait for the answer; exit code 3 when it is no 2xx')
    .option('--timeout <duration>', 'how long to wait', '30s')
    .addHelpText('after', '\nExamples:\n  svc webhooks test --wait\n  svc webhooks test --wait dispute.opened\n')
    .action(action(runtime, TestOptions, testEvent))
  const replaying = changing(webhooks.command('replay'), 'say what would be sent again, and change nothing')
    .description('send DEAD deliveries again, from their first attempt')
    .argument('[ids...]', 'deliveries as svc webhooks list shows them, or the last 8 characters of their ids')
    .optionsGroup('All of a time, in one request:')
    .addOption(new Option('--status <status>', 'all that are in this status').choices(['DEAD']))
  withTimeRange(replaying, 'created')
    .addOption(new Option('--event <event>', 'only of this event').choices(EventType.options))
    .optionsGroup('How:')
    .option('--wait', 'wait for the answers to those that are named; exit code 3 when one is no 2xx')
    .option('--timeout <duration>', 'how long to wait for each', '30s')
    .addHelpText(
      'after',
      '\nExamples:\n  svc webhooks replay a2b4358c --wait\n  svc webhooks replay --status DEAD --since 2h --dry-run\n  svc webhooks replay --status DEAD --event payment.settled\n',
    )
    .action(action(runtime, ReplayOptions, replay))
}

function addEndpoint(webhooks: Command, runtime: Runtime): void {
  const endpoint = webhooks.command('endpoint').helpCommand(false).description('the address that webhooks go to')
  endpoint
    .command('show')
    .description('show the address, and whether it is paused')
    .addHelpText('after', '\nExamples:\n  svc webhooks endpoint show\n  svc webhooks endpoint show -q webhook_url\n')
    .action(action(runtime, z.object({}), getEndpoint))
  dangerous(endpoint.command('set'))
    .description('set the address, or remove it; says whether its server answers')
    .argument('[url]', 'where to POST them')
    .option('--none', 'send them nowhere; they are kept and can be replayed')
    .addHelpText(
      'after',
      '\nExamples:\n  svc webhooks endpoint set http://127.0.0.1:4242/hook\n  svc webhooks endpoint set --none\n',
    )
    .action(action(runtime, SetOptions, setEndpoint))
  changing(endpoint.command('pause'))
    .description('send nothing for a while; the address is kept, and events wait')
    .addHelpText('after', '\nExamples:\n  svc webhooks endpoint pause\n')
    .action(action(runtime, PauseOptions, (context, input) => setPaused(context, input, true)))
  changing(endpoint.command('resume'))
    .description('send again what has waited, and what comes')
    .addHelpText('after', '\nExamples:\n  svc webhooks endpoint resume\n')
    .action(action(runtime, PauseOptions, (context, input) => setPaused(context, input, false)))
  endpoint
    .command('check')
    .description("look whether the address's server answers, without an event; exit code 3 when it does not")
    .addHelpText('after', '\nExamples:\n  svc webhooks endpoint check\n')
    .action(action(runtime, z.object({}), checkEndpoint))
}
