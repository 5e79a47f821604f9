import { request } from 'undici'
import t from 'tap'
import { LANGUAGES, payerLanguage } from '../../../src/http/pages/payer-language.ts'
import { atBank, testService, untilStatus } from '../../support/app.ts'
import { plainToken, startPayment } from '../../support/checkout.ts'
import { englishIn, textsOf } from '../../support/english.ts'
import { hiddenFields, postForm } from '../../support/forms.ts'

const service = await testService(t, { worker: true })
const merchant = await service.merchant()
const { en: english = {}, ...TRANSLATIONS } = LANGUAGES
const ENGLISH_TEXTS = new Map(textsOf(english))

async function inLanguage(path: string, language: string): Promise<string> {
  const reply = await request(`${service.url}${path}`, { headers: { 'accept-language': language } })
  return reply.body.text()
}

const placeholders = (text: string): string[] => [...text.matchAll(/\{\w+\}/g)].map(([name]) => name).toSorted()

t.test('every language has every text, with the same placeholders, and translates it', async (t) => {
  t.same(Object.keys(TRANSLATIONS).toSorted(), ['cy', 'de', 'es', 'fr'])
  for (const [language, words] of Object.entries(TRANSLATIONS)) {
    const texts = new Map(textsOf(words))
    t.same([...texts.keys()].toSorted(), [...ENGLISH_TEXTS.keys()].toSorted(), language)
    const wrong = [...texts].filter(([path, text]) => {
      const original = ENGLISH_TEXTS.get(path) ?? ''
      // A word may be the same in two languages, a sentence never is.
      const isForgotten = text === original && text.includes(' ') && !/^\d/.test(text)
      return text.trim() === '' || isForgotten || String(placeholders(text)) !== String(placeholders(original))
    })
    t.same(wrong, [], language)
  }
})

t.test("the first of the payer's languages that there is decides, and the address before the browser", async (t) => {
  for (const [asked, accepted, tag] of [
    [undefined, undefined, 'en-GB'],
    [undefined, '', 'en-GB'],
    [undefined, 'en', 'en-GB'],
    [undefined, 'en-US,en;q=0.9', 'en-US'],
    [undefined, 'pl,it;q=0.9,de-AT;q=0.8,en;q=0.7', 'de-AT'],
    [undefined, 'en;q=0.5, cy', 'cy'],
    [undefined, 'de;q=0, fr;q=0.1', 'fr'],
    [undefined, 'DE-de', 'de-DE'],
    [undefined, 'ja, *', 'en-GB'],
    [undefined, 'toString, __proto__, constructor', 'en-GB'],
    [undefined, `${'x'.repeat(10_000)},de`, 'en-GB'],
    [undefined, 'de-"><script>', 'en-GB'],
    ['cy', 'de', 'cy'],
    ['es-MX', 'de', 'es-MX'],
    ['xx', 'de', 'de'],
    ['ar-XB', undefined, 'en-GB'],
    ['', 'fr-CH', 'fr-CH'],
  ] as const)
    t.equal(payerLanguage(asked, accepted).tag, tag, `${asked} ${accepted?.slice(0, 40)}`)
  t.equal(payerLanguage('de').money('1234.5', 'EUR'), '1.234,50 €'.replace(' ', '\u00a0'))
})

t.test("the hosted page, its errors and the hub are in the payer's language", async (t) => {
  const token = plainToken(service, merchant)
  for (const [language, { checkout, pages, hub }] of Object.entries(TRANSLATIONS)) {
    const choice = await inLanguage(`/checkout?token=${encodeURIComponent(token)}`, language)
    t.match(choice, `<html lang="${language}">`)
    t.match(choice, checkout.banksTitle)
    t.same(englishIn(choice), [], language)
    for (const [path, heading] of [
      ['/checkout?token=broken', pages.invalidTitle],
      ['/payments/return?state=unknown', pages.linkTitle],
      ['/go?state=unknown', pages.linkTitle],
      ['/bank/return', pages.fromBank],
      ['/bank/authorise?state=unknown', pages.linkTitle],
      ['/checkout?token=x&token=y', pages.invalidTitle],
    ] as const) {
      const page = await inLanguage(path, language)
      t.match(page, `<html lang="${language}">`, `${language} ${path}`)
      t.ok(page.includes(`<h1>${heading}</h1>`), `${language} ${path}`)
      t.same(englishIn(page), [], `${language} ${path}`)
    }
    const start = await inLanguage('/hub', language)
    for (const part of [`<html lang="${language}">`, hub.site, hub.needsScript, hub.questions])
      t.ok(start.includes(part))
    t.same(englishIn(start), [], `${language} /hub`)
  }
})

t.test('a payer reads the result in the language of the checkout, whatever the browser of the bank says', async (t) => {
  const order = (): string => plainToken(service, merchant)
  for (const [language, { checkout, hub, pages }] of Object.entries(TRANSLATIONS))
    for (const decision of ['approve', 'cancel'] as const) {
      const { body } = await startPayment(service, order(), { locale: language, same_tab: decision === 'cancel' })
      t.match(new URL(body.redirect_url).searchParams.get('redirect_uri'), new RegExp(`[?&]lang=${language}$`))
      const back = new URLSearchParams({ ...(await atBank(body.redirect_url, decision)), lang: language })
      const first = await request(`${service.url}/payments/return?${back}`)
      const location = String(first.headers.location)
      t.match(location, `lang=${language}`, 'the language stays')
      await untilStatus(service, merchant, body.payment_id, decision === 'approve' ? 'Settled' : 'Failed')
      const page = await inLanguage(location, 'en')
      t.match(page, `<html lang="${language}">`)
      t.ok(page.includes(`<h1>${decision === 'approve' ? hub.status.Settled : pages.notPaid}</h1>`), language)
      if (decision === 'cancel') t.ok(page.includes(`${checkout.failures.ACCESS_DENIED} ${checkout.nothingTaken}`))
      t.same(englishIn(page), [], `${language} ${decision}`)
      const short = await request(`${service.url}/go?state=${body.payment_state}`)
      t.match(String(short.headers.location), `lang=${language}`, 'the short address keeps it too')
    }
})

t.test('a language in the address is kept by the forms of the page, and by the payment', async (t) => {
  const page = await inLanguage(`/checkout?lang=cy&token=${encodeURIComponent(plainToken(service, merchant))}`, 'de')
  t.match(page, '<html lang="cy">')
  for (const method of ['get', 'post'] as const) t.equal(hiddenFields(page, method)['lang'], 'cy', method)
  const sent = await postForm(`${service.url}/checkout`, { ...hiddenFields(page), bank: 'mock-fern' })
  t.match(new URL(sent.location ?? '').searchParams.get('redirect_uri'), /to=shop&lang=cy$/)
})

t.test('a language that is no language is rejected', async (t) => {
  for (const locale of ['', 'x', 'de_DE', 'de"', 'a'.repeat(40), 7])
    t.match(await startPayment(service, plainToken(service, merchant), { locale }), {
      status: 400,
      body: { code: 'VALIDATION_FAILED' },
    })
})
