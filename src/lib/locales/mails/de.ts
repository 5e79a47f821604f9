import type { MailTexts } from './en.ts'

/** German. */
export const mails: MailTexts = {
  subject: 'Ihr Link zum Anmelden',
  body: `Guten Tag,

mit diesem Link sehen Sie Ihre Zahlungen, Belege und wiederkehrenden Zahlungen:

{link}

Er funktioniert einmal und 10 Minuten lang. Wer ihn hat, kann ihn benutzen: Geben Sie ihn nicht weiter.

Wenn Sie ihn nicht angefordert haben, müssen Sie nichts tun: Ohne den Link kann sich niemand anmelden.
Wir fragen nie nach Passwörtern oder Codes Ihrer Bank, weder in einer E-Mail noch auf der Seite, die der Link öffnet.
`,
  receiptSubject: 'Ihr Beleg',
  paymentId: 'Zahlungs-ID',
  receipt: `Guten Tag,

hier ist der Beleg, den Sie angefordert haben:

{facts}

{questions}

Alle Ihre Zahlungen, nachdem Sie sich angemeldet haben: {link}

Wir fragen nie nach Passwörtern oder Codes Ihrer Bank, weder in einer E-Mail noch auf der Seite, die der Link öffnet.
`,
  text: `Anmelden und Ihre Zahlungen sehen: {link}
Gilt einmal, 10 Minuten. Nicht weitergeben. Wir fragen nie nach Bank-Passwörtern. Nicht angefordert? Dann nichts tun.`,
}
