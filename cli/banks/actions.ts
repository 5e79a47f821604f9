import { registerAtBank } from '../../src/wire/bank-connections.ts'
import { action } from '../kit/action.ts'
import { bank } from './subject.ts'
import { printRegistration } from './view.ts'

const connect = action({
  command: 'banks connect',
  summary: 'Register the platform at a bank',
  details:
    'Sends the software statement to the bank, which makes a client of it, and shows what was sent. A bank that registers by hand has its client_id in the profile instead.',
  examples: ['svc banks connect model --reason "going live"'],
  subject: bank,
  flags: {
    replace: { summary: 'Register again, for another client id' },
    reason: { value: 'text', summary: 'Reason, for the audit trail', required: true },
  },
  operation: registerAtBank,
  applies: ({ registration, client_id: clientId }) => registration === 'dynamic' && clientId === null,
  facts: ({ client_id: clientId }) => (clientId === null ? 'not registered' : `registered as ${clientId}`),
  effect: (thing) => `register the platform at ${thing.name}`,
  done: (thing, { client_id: clientId }) =>
    `registered at ${thing.name} as ${clientId}; next: svc banks test ${thing.id}`,
  confirm: true,
  key: { letter: 'c', label: 'connect', needs: 'one' },
  view: printRegistration,
})

export const BANK_ACTIONS = [connect] as const
