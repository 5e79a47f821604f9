import { receiveCallback } from '../../payments/receive-callback.ts'
import type * as wire from '../../wire/banks.ts'
import type { Handler } from '../endpoint.ts'

/** POST /api/v1/bank/callbacks/{connector} */
export const callback: Handler<typeof wire.bankCallback> = async (app, { params, rawBody, allHeaders }) => {
  const status = await receiveCallback(app, { connector: params.connector, headers: allHeaders, rawBody })
  return { status: 200, body: { status } }
}
