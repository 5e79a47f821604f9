import type { Command } from 'commander'
import { changing } from '../kit/change.ts'

/** How much, of everything that moves money. */
export function money(command: Command): Command {
  return command
    .requiredOption('--amount <amount>', 'Decimal amount, such as 10.00')
    .requiredOption('--currency <code>', 'GBP or EUR')
}

/** What makes the same command safe to repeat, and shows what it would do. */
export function keyedOrder(command: Command): Command {
  return changing(command.option('--idempotency-key <key>', 'Idempotency key, valid for a day (a new UUID)'))
}
