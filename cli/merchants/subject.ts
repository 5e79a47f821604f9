import type { AdminMerchant } from '../../src/wire/admin.ts'
import type { Subject } from '../kit/action.ts'
import { findMerchant } from './find.ts'

export const merchant: Subject<AdminMerchant> = {
  noun: 'merchant',
  summary: 'Id, at least its last 8 characters, realm, or client id',
  async find(client, given) {
    const { merchant: thing, isExact } = await findMerchant(client, given)
    return { thing, isExact }
  },
  id: ({ id }) => id,
  name: ({ trading_name: name }) => name,
  handle: ({ realm_slug: realm, id }) => realm ?? id,
  confirmBy: ({ realm_slug: realm, id }) => [realm, id],
}
