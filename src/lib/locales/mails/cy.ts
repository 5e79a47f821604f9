import type { MailTexts } from './en.ts'

/** Welsh. */
export const mails: MailTexts = {
  subject: 'Eich dolen i fewngofnodi',
  body: `Helo,

defnyddiwch y ddolen hon i weld eich taliadau, eich derbynebau a’ch taliadau rheolaidd:

{link}

Mae’n gweithio unwaith, ac am 10 munud. Gall unrhyw un sydd â’r ddolen ei defnyddio, felly peidiwch â’i rhannu.

Os na wnaethoch chi ofyn amdani, peidiwch â gwneud dim: heb y ddolen ni all neb fewngofnodi.
Fyddwn ni byth yn gofyn am gyfrineiriau na chodau eich banc, mewn e-bost nac ar y dudalen y mae’r ddolen yn ei hagor.
`,
  receiptSubject: 'Eich derbynneb',
  paymentId: 'ID y taliad',
  receipt: `Helo,

dyma’r dderbynneb y gofynnoch amdani:

{facts}

{questions}

Eich holl daliadau, ar ôl i chi fewngofnodi: {link}

Fyddwn ni byth yn gofyn am gyfrineiriau na chodau eich banc, mewn e-bost nac ar y dudalen y mae’r ddolen yn ei hagor.
`,
  text: `Mewngofnodwch i weld eich taliadau: {link}
Mae’n gweithio unwaith, am 10 munud. Peidiwch â’i rhannu. Fyddwn ni byth yn gofyn am gyfrineiriau banc. Heb ofyn? Peidiwch â gwneud dim.`,
}
