import type { Command } from 'commander'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { TailOptions, tail } from './logs-tail.ts'

/** `svc logs`: what happens, while it happens. */
export function addLogs(logs: Command, runtime: Runtime): void {
  logs.addHelpText('after', "\nExamples:\n  svc logs tail\n  svc logs tail --event 'payment.*' -o jsonl\n")
  logs
    .command('tail')
    .description('print events as they are committed: of the merchant, and for operators of all merchants')
    .optionsGroup('Which events:')
    .option('--event <names>', 'only these: payment.settled,refund.* (exact, or all of a noun)')
    .option('--merchant <merchant>', "only this one's, for operators: its id, realm or client id")
    .option('--cursor <cursor>', 'latest, or a cursor of the feed, as the end of a run says it', 'latest')
    .option('--platform', "the operators' stream, where commands act as a merchant")
    .optionsGroup('How long:')
    .option('--timeout <duration>', 'end after this time: 30s, 5m')
    .addHelpText('after', HELP)
    .action(action(runtime, TailOptions, tail))
}

const HELP = `
It goes on until it is stopped, over restarts of the service, and misses nothing meanwhile.

Examples:
  svc logs tail
  svc logs tail --event payment.settled,refund.* --timeout 5m
  svc logs tail --platform --merchant acme-ltd -o jsonl | jq .event_type
`
