import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { DeliveryStatus } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { addActions } from '../kit/action-command.ts'
import { changing } from '../kit/change.ts'
import { followable } from '../kit/follow.ts'
import { paged } from '../kit/paging.ts'
import { action } from '../kit/context.ts'
import { withTimeRange } from '../kit/time-range.ts'
import type { Runtime } from '../kit/context.ts'
import { ofMerchants } from '../merchants/whose.ts'
import { ListOptions, list, show } from './deliveries.ts'
import { ENDPOINT_ACTIONS, TEST_ACTIONS } from './endpoint-actions.ts'
import { checkEndpoint, getEndpoint } from './endpoint.ts'
import { ReplayOptions, replay } from './replay.ts'

/** `svc webhooks`: where they go, what became of them, and how a receiver proves where they come from. */
export function addWebhooks(webhooks: Command, runtime: Runtime): void {
  addEndpoint(webhooks, runtime)
  addDeliveries(webhooks, runtime)
  addSending(webhooks, runtime)
}

function addDeliveries(webhooks: Command, runtime: Runtime): void {
  const listing = webhooks
    .command('list')
    .description("list deliveries, the newest first: a merchant's own last 50, or those of all merchants")
    .optionsGroup('Filters:')
    .addOption(new Option('--status <status>', 'only in this status').choices(DeliveryStatus.options))
    .addOption(new Option('--event <event>', 'only of this event').choices(EventType.options))
    .option('--payment <id>', 'only about this payment')
  followable(paged(ofMerchants(listing)), 'continue with new deliveries and what becomes of them, the newest last')
    .addHelpText(
      'after',
      '\nExamples:\n  svc webhooks list --status DEAD\n  svc webhooks list --payment a2b4358c -o jsonl\n  svc webhooks list --all-merchants --status DEAD\n  svc webhooks list --follow --limit 10\n',
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
}

function addSending(webhooks: Command, runtime: Runtime): void {
  addActions(webhooks, runtime, TEST_ACTIONS)
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
  ofMerchants(replaying)
    .option('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText(
      'after',
      '\nExamples:\n  svc webhooks replay a2b4358c --wait\n  svc webhooks replay --status DEAD --since 2h --dry-run\n  svc webhooks replay --status DEAD --event payment.settled\n  svc webhooks replay --status DEAD --merchant acme-ltd --reason "their server is back"\n',
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
  addActions(webhooks, runtime, ENDPOINT_ACTIONS)
  endpoint
    .command('check')
    .description("look whether the address's server answers, without an event; exit code 3 when it does not")
    .addHelpText('after', '\nExamples:\n  svc webhooks endpoint check\n')
    .action(action(runtime, z.object({}), checkEndpoint))
}
