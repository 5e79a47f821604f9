import type { Command } from 'commander'
import type { Runtime } from '../kit/context.ts'
import { addFileCommands } from './files.ts'

/** `svc payouts`: what merchants are paid. */
export function addPayouts(payouts: Command, runtime: Runtime): void {
  addFileCommands(payouts, runtime)
}
