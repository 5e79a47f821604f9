import { sql } from '../db/sql.ts'
import { knownOutgoing } from './known-outgoing-sql.ts'
import { knownPayment } from './known-payment-sql.ts'

/**
 * What has the id that an open line `l` names. `is_of_failed`: the bank has booked what has failed here, so that the
 * merchant's balance is wrong. `cause` is what an operator does, by which the money of merchant and platform is right:
 * what has left and come back under the id is taken into account, and each line is resolved.
 */
export const knownOf = sql.fragment`(${knownOutgoing} union all ${knownPayment}) known`
