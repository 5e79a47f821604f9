import { listBankConnections } from '../../src/wire/bank-connections.ts'
import type { BankConnection } from '../../src/wire/bank-connections.ts'
import { CliError } from '../base/errors.ts'
import { call } from '../client/call.ts'
import type { Subject } from '../kit/action.ts'

export const bank: Subject<BankConnection> = {
  noun: 'bank',
  summary: 'Its id, from svc banks list',
  async find(client, given) {
    const { data } = (await call(client, listBankConnections, {})).body
    const thing = data.find(({ id }) => id === given.toLowerCase())
    if (thing === undefined)
      throw new CliError('BANK_NOT_FOUND', `bank not found: ${given}`, { hint: 'svc banks list' })
    return { thing, isExact: true }
  },
  id: ({ id }) => id,
  name: ({ name }) => name,
  handle: ({ id }) => id,
  confirmBy: ({ id }) => [id],
}
