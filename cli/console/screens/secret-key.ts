import { rotateWebhookSecret } from '../../../src/wire/secrets.ts'
import { quoted } from '../../base/command-hints.ts'
import { shortTime } from '../../base/text.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { keepWebhookSecret, serviceFile, stateOfMerchant } from '../../client/service-state.ts'
import { durationOf } from '../../kit/context.ts'
import { errorText } from '../error-text.ts'
import type { ScreenKey } from '../screen.ts'
import type { DeliveryRow } from './webhook-lines.ts'

/** Rotates the secret that webhooks are signed with, as `svc secret rotate` does. The new one is shown once. */
export const rotateSecretKey: ScreenKey<DeliveryRow> = {
  key: 'S',
  label: 'rotate secret',
  writes: true,
  permission: 'manage signing secret',
  for: 'merchant',
  on: 'list',
  needs: 'nothing',
  command: (_row, { overlap }) =>
    overlap === undefined ? 'svc secret rotate' : `svc secret rotate --overlap ${quoted(overlap)}`,
  ask: (_rows, who) => ({
    what: 'rotate the signing secret',
    about: ['Webhooks carry the signatures of both secrets until the overlap ends. The new secret is shown once.'],
    fields: [
      {
        name: 'overlap',
        sent: 'overlap_seconds',
        label: 'Overlap, 0s to 7d',
        kind: 'line',
        initial: '24h',
        check: wrongDuration,
      },
    ],
    danger: [who.realm, who.client_id],
    last: ({ overlap = '' }) => `makes a new signing secret; the one before signs as well for ${overlap}`,
    act: () => 'rotate',
  }),
  async run(_row, { overlap = '24h' }, { client, stateDir, show }) {
    const body = { overlap_seconds: durationOf(overlap, '--overlap') / 1_000 }
    const { body: rotated } = await call(client, rotateWebhookSecret, { body })
    const { webhook_signing_secret: secret, previous_expires_at: until } = rotated
    const next =
      until === null
        ? 'Receivers need it at once: the one before signs no more.'
        : `Give it to your receivers before ${shortTime(until)}: until then the one before signs as well.`
    const lines = [secret, '', 'Keep it now: it is shown this once.', next, ...stateFileLines(client, stateDir, secret)]
    show('The new signing secret', lines, { isOnce: true })
    return 'rotated the signing secret'
  },
}

function wrongDuration(text: string): string | undefined {
  try {
    durationOf(text, '--overlap')
    return undefined
  } catch (error) {
    return errorText(error).replaceAll('--overlap: ', '')
  }
}

/** `svc listen` and scripts read the secret of the merchant of svc.json from there. */
function stateFileLines({ apiUrl, credentials }: Client, stateDir: string, secret: string): string[] {
  const state = stateOfMerchant(stateDir, { apiUrl, merchant: credentials.merchant })
  if (state === undefined) return []
  const file = serviceFile(stateDir)
  try {
    keepWebhookSecret(stateDir, state, secret)
    return [`${file} has it as well.`]
  } catch (error) {
    return [`${file} still has the secret before: ${errorText(error)}`]
  }
}
