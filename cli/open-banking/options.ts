import type { Command } from 'commander'
import { changing } from '../kit/change.ts'

/** How much, of everything that moves money. */
export function money(command: Command): Command {
  return command
    .requiredOption('--amount <amount>', 'a decimal amount, such as 10.00; never rounded')
    .requiredOption('--currency <code>', 'GBP or EUR')
}

/** What makes the same command safe to repeat, and shows what it would do. */
export function keyedOrder(command: Command): Command {
  return changing(
    command.option('--idempotency-key <key>', 'the same key never orders twice within a day (a new UUID)'),
  )
}
