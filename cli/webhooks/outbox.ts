import { Option } from 'commander'
import type { Command } from 'commander'
import { DeliveryStatus } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import { withTimeRange } from '../kit/time-range.ts'
import type { Runtime } from '../kit/context.ts'
import { ListOptions, list } from './outbox-deliveries.ts'
import { ReplayOptions, replay } from './outbox-replay.ts'
import { paged } from '../kit/paging.ts'

/** `svc outbox`: the webhook deliveries of all merchants, for operators. */
export function addOutbox(outbox: Command, runtime: Runtime): void {
  outbox.addHelpText('after', '\nExamples:\n  svc outbox list --status DEAD\n')
  paged(
    outbox
      .command('list')
      .description('list deliveries, the newest first')
      .optionsGroup('Filters:')
      .addOption(new Option('--status <status>', 'only in this status').choices(DeliveryStatus.options))
      .addOption(new Option('--event <event>', 'only of this event').choices(EventType.options))
      .option('--merchant <merchant>', 'only of this one: its id, realm or client id')
      .option('--payment <id>', 'only about this payment'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc outbox list --status DEAD\n  svc outbox list --merchant acme-ltd --event payment.settled -o jsonl\n',
    )
    .action(action(runtime, ListOptions, list))
  addReplay(outbox, runtime)
}

function addReplay(outbox: Command, runtime: Runtime): void {
  const command = changing(outbox.command('replay').argument('[deliveries...]', 'as svc outbox list shows them'))
    .description('send DEAD deliveries of any merchant again, from their first attempt')
    .option('--merchant <merchant>', 'only of this one: its id, realm or client id')
    .option('--reason <text>', 'why; it stands in the audit trail')
    .optionsGroup("All of a merchant's, one after the other:")
    .addOption(new Option('--status <status>', 'all that are in this status').choices(['DEAD']))
  withTimeRange(command, 'created')
    .addOption(new Option('--event <event>', 'only of this event').choices(EventType.options))
    .addHelpText('after', REPLAY_HELP)
    .action(action(runtime, ReplayOptions, replay))
}

const REPLAY_HELP = `
Examples:
  svc outbox replay a2b4358c --reason "their server is back"
  svc outbox replay --status DEAD --merchant acme-ltd --since 12h --reason "their server is back"
  svc outbox list --status DEAD -o id | xargs svc outbox replay --reason "their servers are back"
`
