import type { MailTexts } from './en.ts'

/** French. */
export const mails: MailTexts = {
  subject: 'Votre lien de connexion',
  body: `Bonjour,

ce lien vous montre vos paiements, vos reçus et vos paiements récurrents :

{link}

Il fonctionne une seule fois, pendant 10 minutes. Toute personne qui l’a peut s’en servir : ne le partagez pas.

Si vous ne l’avez pas demandé, ne faites rien : sans le lien, personne ne peut se connecter.
Nous ne demandons jamais les mots de passe ni les codes de votre banque, ni par e-mail ni sur la page que le lien ouvre.
`,
  receiptSubject: 'Votre reçu',
  paymentId: 'Identifiant du paiement',
  receipt: `Bonjour,

voici le reçu que vous avez demandé :

{facts}

{questions}

Tous vos paiements, une fois connecté : {link}

Nous ne demandons jamais les mots de passe ni les codes de votre banque, ni par e-mail ni sur la page que le lien ouvre.
`,
  text: `Connectez-vous pour voir vos paiements : {link}
Valable une fois, 10 minutes. Ne le partagez pas. Nous ne demandons jamais de mot de passe bancaire. Pas demandé ? Ne faites rien.`,
}
