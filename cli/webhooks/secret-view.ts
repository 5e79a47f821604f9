import { shortTime } from '../base/text.ts'

type Overlap = { masked_secret: string; rotated_at: string | null; previous_expires_at: string | null }

/** What may be shown of a secret at any time. */
export function overlapLines({ masked_secret, rotated_at, previous_expires_at }: Overlap): [string, string][] {
  return [
    ['Secret', masked_secret],
    ['Rotated', rotated_at === null ? 'never' : shortTime(rotated_at)],
    [
      'The one before',
      previous_expires_at === null ? 'signs no more' : `signs until ${shortTime(previous_expires_at)}`,
    ],
  ]
}
