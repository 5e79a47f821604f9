import { isMock, logoPath } from '../../banks/catalogue.ts'
import { bankCallback } from '../../payments/bank-callback.ts'
import type * as wire from '../../wire/banks.ts'
import type { Handlers } from '../endpoint.ts'

/** Banks of the sandbox never change; others may stop answering, or answer again. */
const MOCK_SECONDS = 300
const SECONDS = 30

export const banks: Handlers<typeof wire> = {
  /** GET /api/v1/banks */
  async listBanks({ catalogue }) {
    return {
      status: 200,
      body: {
        data: catalogue.list.map((bank) => ({
          id: bank.id,
          name: bank.name,
          popular: bank.popular,
          available: catalogue.isAvailable(bank.id),
          unavailable_since: catalogue.unavailableSince(bank.id),
          logo: logoPath(bank),
        })),
      },
      headers: { 'cache-control': `public, max-age=${catalogue.list.every(isMock) ? MOCK_SECONDS : SECONDS}` },
    }
  },

  /** POST /api/v1/bank/callbacks/{connector} */
  async bankCallback(app, { params, rawBody, allHeaders }) {
    const status = await bankCallback(app, { connector: params.connector, headers: allHeaders, rawBody })
    return { status: 200, body: { status } }
  },
}
