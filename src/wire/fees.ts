import { z } from 'zod'
import { Reason } from './admin.ts'
import { Amount, IdParams, NoBody, NoHeaders, None, Timestamp, Uuid, expecting } from './common.ts'
import { operation } from './operation.ts'

export const FeePercentage = z
  .string()
  .regex(/^0(\.\d{1,4})?$/, 'must be a decimal string below 1, such as "0.0100" for 1%')
export const FeeFlat = z.string().regex(/^\d{1,8}(\.\d{1,2})?$/, 'must be a decimal string such as "0.20"')

/** The fees of a merchant for future payments, with their changes. */
export const MerchantFees = z.strictObject({
  merchant_id: Uuid,
  fee_percentage: z.string().meta({ description: '0.0100 is 1%' }),
  fee_flat: z.string(),
  history: z
    .array(
      z.strictObject({
        fee_percentage: z.string(),
        fee_flat: z.string(),
        changed_at: Timestamp,
        changed_by: z.string(),
        reason: z.string().nullable(),
        before: z.strictObject({ fee_percentage: z.string(), fee_flat: z.string() }),
      }),
    )
    .meta({ description: 'the last 100 changes, newest first' }),
})
export type MerchantFees = z.infer<typeof MerchantFees>

export const getFees = operation({
  name: 'getFees',
  method: 'GET',
  path: '/api/v1/admin/merchants/{id}/fees',
  summary: "Get a merchant's fees with their last 100 changes",
  access: ['platform'],
  permission: 'administer platform',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: MerchantFees },
  errors: ['MERCHANT_NOT_FOUND'],
})

export const setFees = operation({
  name: 'setFees',
  needsFreshSignIn: true,
  dryRun: true,
  method: 'PUT',
  path: '/api/v1/admin/merchants/{id}/fees',
  summary: "Set a merchant's fees for future payments",
  access: ['platform'],
  permission: 'administer platform',
  params: IdParams,
  query: None,
  headers: NoHeaders,
  body: z
    .strictObject({
      fee_percentage: FeePercentage.optional(),
      fee_flat: FeeFlat.optional(),
      reason: Reason,
      expected: expecting({ fee_percentage: Amount, fee_flat: Amount }),
    })
    .refine(
      (body) => body.fee_percentage !== undefined || body.fee_flat !== undefined,
      'must have fee_percentage or fee_flat',
    ),
  replies: { 200: MerchantFees },
  errors: ['MERCHANT_NOT_FOUND', 'CHANGED_MEANWHILE'],
})
