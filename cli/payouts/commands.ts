import type { Command } from 'commander'
import { addActions } from '../kit/action-command.ts'
import type { Runtime } from '../kit/context.ts'
import { addAccounts } from './accounts.ts'
import { PAYOUT_ACTIONS } from './actions.ts'
import { addFileCommands } from './files.ts'
import { addReading } from './read.ts'

/** `svc payouts`: what merchants are paid. */
export function addPayouts(payouts: Command, runtime: Runtime): void {
  addReading(payouts, runtime)
  addActions(payouts, runtime, PAYOUT_ACTIONS)
  addFileCommands(payouts, runtime)
  addAccounts(payouts, runtime)
}
