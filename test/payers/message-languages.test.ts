import t from 'tap'
import { LANGUAGES } from '../../src/http/pages/payer-language.ts'
import { MAIL_LANGUAGES, linkMail, linkText } from '../../src/payers/link-message.ts'
import { sendPayerLinks } from '../../src/payers/send-links.ts'
import { testService } from '../support/app.ts'
import { AUTH, comparable, messagesTo, paymentOf } from '../support/payers.ts'

const service = await testService(t)
const merchant = await service.merchant()
const EMAIL = 'ada@payer.example'
const PHONE = '+447700900123'
await paymentOf(service, merchant, { payer_email: EMAIL, payer_phone: PHONE })

t.test("messages are in every language of the payers' pages, each with its link and its limits", async (t) => {
  t.same(Object.keys(MAIL_LANGUAGES).toSorted(), Object.keys(LANGUAGES).toSorted())
  const link = 'https://pay.example/hub#token=$&'
  const subjects = new Set<string>()
  for (const language of Object.keys(MAIL_LANGUAGES)) {
    const [mail, text] = [linkMail({ link, language }), linkText({ link, language })]
    subjects.add(mail.subject)
    for (const { body } of [mail, text]) {
      t.equal(body.split(link).length, 2, `${language}: the link, once and as it is`)
      t.match(body, /10/, language)
      t.notMatch(body, /[{}]/, language)
    }
    t.equal(text.subject, mail.subject)
    t.ok(text.body.length - link.length < 280, `${language}: two parts of a text message, beside the link`)
  }
  t.equal(subjects.size, Object.keys(MAIL_LANGUAGES).length)
})

t.test(
  'a link comes in the language of the page or browser that asked for it, and the response is the same',
  async (t) => {
    const answers = new Set<string>()
    for (const [accepted, language] of [
      ['cy', 'cy'],
      ['de-AT, en;q=0.8', 'de'],
      ['nl, fr;q=0.5', 'fr'],
      ['*', 'en'],
      ["zz'; drop table mails", 'en'],
    ] as const) {
      for (const [contact, recipient] of [
        [{ email: EMAIL }, EMAIL],
        [{ phone: PHONE }, PHONE],
      ] as const) {
        const answer = await service.call('POST', `${AUTH}/request-link`, {
          body: contact,
          headers: { 'accept-language': accepted },
        })
        answers.add(JSON.stringify(comparable(answer)))
        await sendPayerLinks(service.app, new AbortController().signal)
        const [message] = await messagesTo(service, recipient)
        t.equal(message?.subject, linkMail({ link: '', language }).subject, `${accepted}: ${recipient}`)
        t.match(message?.links, [
          language === 'en' ? /\/hub#token=[\w-]+$/ : RegExp(String.raw`/hub\?lang=${language}#token=[\w-]+$`),
        ])
      }
    }
    t.equal(answers.size, 1)
  },
)
