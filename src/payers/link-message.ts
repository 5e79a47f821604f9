import type { App } from '../app.ts'
import * as cy from '../lib/locales/mails/cy.ts'
import * as de from '../lib/locales/mails/de.ts'
import * as en from '../lib/locales/mails/en.ts'
import type { MailTexts } from '../lib/locales/mails/en.ts'
import * as es from '../lib/locales/mails/es.ts'
import * as fr from '../lib/locales/mails/fr.ts'

/** The languages of messages to payers; their pages have the same. */
export const MAIL_LANGUAGES: Readonly<Record<string, MailTexts>> = {
  en: en.mails,
  cy: cy.mails,
  de: de.mails,
  fr: fr.mails,
  es: es.mails,
}

/**
 * The hub's page in a message's language. English is also for a payer who named no language: the browser's decides then.
 */
export function hubAddress({ publicUrl }: Pick<App, 'publicUrl'>, language: string): string {
  const query = language !== 'en' && Object.hasOwn(MAIL_LANGUAGES, language) ? `?lang=${language}` : ''
  return `${publicUrl}/hub${query}`
}

type LinkMessage = { link: string; language: string }

/** The e-mail with a sign-in link, in the language of who asked for it. */
export function linkMail({ link, language }: LinkMessage): { subject: string; body: string } {
  const { subject, body } = MAIL_LANGUAGES[language] ?? en.mails
  return { subject, body: body.replace('{link}', () => link) }
}

/** The text message with a sign-in link. */
export function linkText({ link, language }: LinkMessage): { subject: string; body: string } {
  const { subject, text } = MAIL_LANGUAGES[language] ?? en.mails
  return { subject, body: text.replace('{link}', () => link) }
}
