import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { MERCHANT } from '../merchants/commands.ts'
import { filtered } from './filters.ts'
import { PaymentsOptions, payment, payments } from './of-merchant.ts'
import { paged } from '../kit/paging.ts'

/** `svc merchants payments` and `payment`: what operators see of the payments of all merchants. */
export function addMerchantPayments(merchants: Command, runtime: Runtime): void {
  paged(
    filtered(merchants.command('payments'))
      .description('list the payments of all merchants, the newest first')
      .option('--merchant <merchant>', `only of this one: ${MERCHANT}`),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc merchants payments --status Failed --since 2h\n  svc merchants payments --merchant acme-ltd --all -o csv\n',
    )
    .action(action(runtime, PaymentsOptions, payments))
  merchants
    .command('payment')
    .description("show any merchant's payment with its history")
    .argument('<id>', "the payment's id, or its last 8 characters or more")
    .addHelpText(
      'after',
      '\nExamples:\n  svc merchants payment a2b4358c\n  svc merchants payment a2b4358c -q merchant_id\n',
    )
    .action(action(runtime, z.object({}), payment))
}
