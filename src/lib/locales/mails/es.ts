import type { MailTexts } from './en.ts'

/** Spanish. */
export const mails: MailTexts = {
  subject: 'Su enlace para iniciar sesión',
  body: `Hola:

con este enlace puede ver sus pagos, sus recibos y sus pagos periódicos:

{link}

Funciona una sola vez, durante 10 minutos. Quien lo tenga puede usarlo: no lo comparta.

Si no lo ha pedido, no haga nada: sin el enlace nadie puede iniciar sesión.
Nunca pedimos las contraseñas ni los códigos de su banco, ni por correo ni en la página que abre el enlace.
`,
  receiptSubject: 'Su recibo',
  paymentId: 'Identificador del pago',
  receipt: `Hola:

este es el recibo que ha pedido:

{facts}

{questions}

Todos sus pagos, después de iniciar sesión: {link}

Nunca pedimos las contraseñas ni los códigos de su banco, ni por correo ni en la página que abre el enlace.
`,
  text: `Inicie sesión para ver sus pagos: {link}
Vale una vez, 10 minutos. No lo comparta. Nunca pedimos contraseñas del banco. Si no lo ha pedido, no haga nada.`,
}
