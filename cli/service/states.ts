import { Argument } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { toMermaid } from '../../src/lib/machine.ts'
import type { Transition } from '../../src/lib/machine.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'

const StatesOptions = z.object({ mermaid: z.boolean().default(false) })

const MACHINES = ['payments', 'consents', 'disputes', 'deliveries', 'kyb', 'orders', 'recurring', 'requests'] as const

type StateRow = Transition<string> & { machine: string }

type Machine = { name: (typeof MACHINES)[number]; title: string; rows: readonly Transition<string>[] }

export function addStates(command: Command, runtime: Runtime): void {
  command
    .addArgument(new Argument('[machine]', 'State machine').choices(MACHINES))
    .option('--mermaid', 'Print Mermaid state diagrams')
    .addHelpText('after', '\nExamples:\n  svc states\n  svc states payments --mermaid\n  svc states --json\n')
    .action(action(runtime, StatesOptions, states))
}

async function states(
  { io, print }: Context,
  { args, options }: CommandInput<z.infer<typeof StatesOptions>>,
): Promise<CommandResult> {
  const [only] = args
  const machines = (await loadMachines()).filter(({ name }) => only === undefined || name === only)
  if (options.mermaid) {
    io.stdout.write(machines.map(({ title, rows }) => `${toMermaid(title, rows)}\n`).join('\n'))
    return undefined
  }
  const items: StateRow[] = machines.flatMap(({ name, rows }) => rows.map((row) => ({ machine: name, ...row })))
  print.list({
    items,
    fields: [...new Set(['machine', 'from', 'on', 'to', ...items.flatMap((item) => Object.keys(item))])],
    columns: [
      { title: 'machine', value: (row) => row.machine },
      { title: 'from', value: (row) => row.from ?? '-' },
      { title: 'on', value: (row) => row.on, below: true },
      { title: 'to', value: (row) => row.to },
      ...(items.some((item) => 'webhook' in item) ? [{ title: 'webhook', value: webhookOf, below: true }] : []),
    ],
    id: (row) => `${row.machine}:${row.from ?? ''}:${row.on}`,
    empty: '',
  })
  return undefined
}

function webhookOf(row: StateRow): string {
  return 'webhook' in row && typeof row.webhook === 'string' ? row.webhook : ''
}

/** Every state machine of the service, by the tables that the code itself reads; loaded only when asked for. */
export async function loadMachines(): Promise<Machine[]> {
  const [payments, consents, disputes, webhooks, merchants, orders, recurring, requests] = await Promise.all([
    import('../../src/payments/states.ts'),
    import('../../src/consents/states.ts'),
    import('../../src/disputes/states.ts'),
    import('../../src/webhooks/states.ts'),
    import('../../src/merchants/states.ts'),
    import('../../src/instructions/orders/states.ts'),
    import('../../src/instructions/recurring/states.ts'),
    import('../../src/instructions/requests/states.ts'),
  ])
  return [
    { name: 'payments', title: 'Payment', rows: payments.PAYMENT_TRANSITIONS },
    { name: 'consents', title: 'Payment consent', rows: consents.CONSENT_TRANSITIONS },
    { name: 'disputes', title: 'Dispute', rows: disputes.DISPUTE_TRANSITIONS },
    { name: 'deliveries', title: 'Webhook delivery', rows: webhooks.DELIVERY_TRANSITIONS },
    { name: 'kyb', title: 'KYB', rows: merchants.KYB_TRANSITIONS },
    { name: 'orders', title: 'Open Banking payment', rows: orders.ORDER_TRANSITIONS },
    { name: 'recurring', title: 'Recurring payment', rows: recurring.RECURRING_TRANSITIONS },
    { name: 'requests', title: 'Request to pay, offer to pay', rows: requests.PAYMENT_REQUEST_TRANSITIONS },
  ]
}
