import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import { CONTRAST_MIN, buttonTextOn, contrastRatio, ratioText } from '../lib/contrast.ts'
import { invalidField } from '../lib/errors.ts'
import { webAddressProblem } from '../lib/web-address.ts'
import { BrandingConfig } from '../wire/settings.ts'
import type { Branding } from '../wire/settings.ts'
import { findSettings, lockSettings, updateBranding } from './settings-sql.ts'

/** A merchant's complete checkout branding, with defaults for values that were never set (decision 27). */
export async function getBranding(app: Pick<App, 'pool'>, merchantId: string): Promise<Branding> {
  const { branding_config } = await findSettings(app.pool, merchantId)
  return withWarnings(storedBranding(branding_config))
}

/**
 * Replaces the branding of a merchant's checkout. Colours with low contrast cause warnings, not errors. Setting the
 * current branding again changes nothing.
 * @throws {DomainError} VALIDATION_FAILED
 */
export async function putBranding(
  app: Pick<App, 'pool' | 'ids' | 'config'>,
  { merchantId, actor, branding: input }: { merchantId: string; actor: Actor; branding: BrandingConfig },
): Promise<Branding> {
  const branding = normalizeBranding(input, { allowLoopbackHttp: app.config.mode === 'sandbox' })
  await app.pool.transaction(async (tx) => {
    const { branding_config } = await lockSettings(tx, merchantId)
    const before = storedBranding(branding_config)
    if (canonicalJson(before) === canonicalJson(branding)) return
    await updateBranding(tx, { merchantId, branding: JSON.stringify(branding) })
    await recordAction(app, tx, {
      actor,
      action: 'branding.set',
      merchantId,
      subjectId: merchantId,
      before,
      after: branding,
    })
  })
  return withWarnings(branding)
}

/** Stored branding was validated when it was set; the schema adds defaults for members of later versions. */
function storedBranding(stored: unknown): BrandingConfig {
  return BrandingConfig.parse(stored ?? {})
}

function normalizeBranding(branding: BrandingConfig, rules: { allowLoopbackHttp: boolean }): BrandingConfig {
  const { primary, background, text } = branding.colors
  return {
    colors: { primary: primary.toUpperCase(), background: background.toUpperCase(), text: text.toUpperCase() },
    logo_url: branding.logo_url === null ? null : checkedLogo(branding.logo_url, rules),
    font: branding.font,
  }
}

function checkedLogo(url: string, rules: { allowLoopbackHttp: boolean }): string {
  const problem = webAddressProblem(url, rules)
  if (problem !== undefined) throw invalidField('logo_url', 'INVALID_URL', problem)
  return new URL(url).href
}

function withWarnings(branding: BrandingConfig): Branding {
  return { ...branding, warnings: warningsOf(branding.colors) }
}

function warningsOf({ primary, background, text }: BrandingConfig['colors']): Branding['warnings'] {
  const onBackground = contrastRatio(text, background)
  const whiteOnPrimary = contrastRatio('#FFFFFF', primary)
  const least = ratioText(CONTRAST_MIN)
  const warnings: Branding['warnings'] = []
  if (onBackground < CONTRAST_MIN) {
    const message = `text ${text} on background ${background} has a contrast of ${ratioText(onBackground)}, below ${least}`
    warnings.push({ code: 'LOW_CONTRAST', path: 'colors.text', message })
  }
  if (whiteOnPrimary < CONTRAST_MIN) {
    const black = ratioText(contrastRatio(buttonTextOn(primary), primary))
    const message = `white on ${primary} has a contrast of ${ratioText(whiteOnPrimary)}, below ${least}; buttons are written in black (${black})`
    warnings.push({ code: 'LOW_CONTRAST', path: 'colors.primary', message })
  }
  return warnings
}
