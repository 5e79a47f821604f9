import type { z } from 'zod'
import { BrandingFont, getBranding, putBranding } from '../../src/wire/settings.ts'
import type { Branding, BrandingConfig } from '../../src/wire/settings.ts'
import { usageError } from '../base/errors.ts'
import { ownSubject, action } from '../kit/action.ts'
import { printLook } from './branding-view.ts'

type BrandingInput = z.input<typeof BrandingConfig>

const branding = ownSubject('branding', 'the look of the checkout', getBranding)

const COLOURS = ['primary', 'background', 'text'] as const
type Part = (typeof COLOURS)[number] | 'logo_url' | 'font'
const NAMES: readonly Part[] = [...COLOURS, 'logo_url', 'font']

const DETAILS = `Colours are written #RRGGBB. A setting without a value has its default again. Fonts: ${BrandingFont.options.join(', ')}.`

const set = action({
  command: 'checkout branding set',
  summary: 'Change branding settings',
  details: DETAILS,
  examples: [
    'svc checkout branding set primary=#003B2F',
    'svc checkout branding set logo_url=https://cdn.shop.example/logo.svg font=Georgia',
    'svc checkout branding set logo_url=',
  ],
  subject: branding,
  flags: {
    parts: {
      value: 'part=value',
      summary: 'Setting: primary, background, text, logo_url or font',
      positional: true,
      several: true,
      required: true,
    },
  },
  operation: putBranding,
  // What is not named goes back as it came.
  request: (_id, { parts }, now) => ({
    body: lookOf(new Map([...valuesOf(now), ...parts.split(' ').map((part) => readPart(part))])),
  }),
  effect: (_now, { parts }) => `change the look of the checkout: ${parts}`,
  done: () => 'changed the look of the checkout',
  view: printLook,
})

const reset = action({
  command: 'checkout branding reset',
  summary: 'Reset the branding to its defaults',
  examples: ['svc checkout branding reset'],
  subject: branding,
  flags: {},
  operation: putBranding,
  request: () => ({ body: {} }),
  effect: () => 'give the checkout its default look',
  done: () => 'gave the checkout its default look',
  view: printLook,
})

function valuesOf(now: Branding | undefined): [Part, string | null][] {
  if (now === undefined) return []
  const { colors, logo_url: logo, font } = now
  return [...COLOURS.map((part): [Part, string] => [part, colors[part]]), ['logo_url', logo], ['font', font]]
}

function readPart(given: string): [Part, string | null] {
  const [name = '', ...rest] = given.split('=')
  const part = NAMES.find((known) => known === name.replace(/^colors\./, ''))
  if (part === undefined || rest.length === 0)
    throw usageError(
      `invalid part "${given}": use part=value with one of ${NAMES.join(', ')}`,
      'svc checkout branding set primary=#003B2F',
    )
  return [part, rest.join('=') || null]
}

/** What is null is left out, for the service to fill in its default. */
function lookOf(values: ReadonlyMap<Part, string | null>): BrandingInput {
  const given = (part: Part): Record<string, string> => {
    const value = values.get(part) ?? null
    return value === null ? {} : { [part]: value }
  }
  const colors = Object.assign({}, ...COLOURS.map((part) => given(part)))
  return { colors, ...given('logo_url'), ...given('font') }
}

export const BRANDING_ACTIONS = [set, reset] as const
