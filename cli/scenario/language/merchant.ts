import { z } from 'zod'
import { KybStatus } from '../../../src/wire/admin.ts'
import { Text } from './parts.ts'

/** What an operator does to the case's merchant. */
export const Kyb = z.strictObject({ status: KybStatus, reason: Text.optional() })
export const Hold = z.strictObject({ payouts: z.boolean(), reason: Text.optional() })
