import type { PageTexts } from './en.ts'

/** German. */
export const pages: PageTexts = {
  payment: 'Zahlung',
  checkout: 'Bezahlen',
  payShop: 'An {merchant} zahlen',
  payNow: '{amount} per Bank zahlen',
  moreBanks: 'Weitere Banken',
  searchButton: 'Suchen',
  showAll: 'Alle Banken zeigen',
  noBanks: 'Zurzeit ist keine Bank verfügbar. Bitte kommen Sie später wieder.',
  notPaid: 'Nicht bezahlt',
  toShop: 'An {merchant}.',
  nothingPaid: 'An {merchant} wurde nichts gezahlt.',
  printHint: 'Sie können diese Seite drucken: Sie ist Ihr Beleg.',
  elsewhere:
    'Ist der Shop noch in einem anderen Tab oder auf einem anderen Gerät offen, machen Sie dort weiter: Diese Seite können Sie schließen.',
  openLinkAgain: 'Öffnen Sie den Link erneut, um anders zu zahlen.',
  notConfirmed: 'Noch nicht bestätigt',
  notConfirmedText:
    'Die Antwort Ihrer Bank passt nicht zu dieser Zahlung. Gehen Sie zurück zum Shop und beginnen Sie neu.',
  triesAgain: 'Diese Seite versucht es von selbst erneut.',
  linkTitle: 'Dieser Link ist nicht verwendbar',
  linkText:
    'Er gehört zu keiner Zahlung oder zu einer, die länger beendet ist. Fragen Sie den Shop nach Ihrer Zahlung.',
  fromBank: 'Zurück von Ihrer Bank',
  backToShop: 'Zurück zum Shop',
  moment: 'Einen Moment bitte',
  needsScript:
    'Die Antwort Ihrer Bank kann nur mit JavaScript gelesen werden. Erlauben Sie es für diese Seite und laden Sie sie neu.',
  rejected: 'Diese Zahlung wurde nicht bestätigt',
  otherBrowser:
    'Sie haben diese Zahlung in einem anderen Browser begonnen. Gehen Sie dorthin zurück oder beginnen Sie hier neu.',
  badAnswer:
    'Was zurückkam, ist keine gültige Antwort Ihrer Bank zu dieser Zahlung. Gehen Sie zurück zum Shop und beginnen Sie neu.',
  silentBank: 'Ihre Bank antwortet nicht',
  silentBankText: 'Es hat sich nichts geändert. Warten Sie einige Sekunden.',
  busy: 'Aus Ihrem Netz kommen zu viele Anfragen.',
  busyForm: 'Gehen Sie zurück und versuchen Sie es gleich noch einmal.',
  invalidTitle: 'Dieser Bezahlvorgang ist nicht verwendbar',
  invalidText:
    'Die Bestellung des Shops ist ungültig oder wurde unterwegs verändert. Sie haben nichts bezahlt. Gehen Sie zurück zum Shop und beginnen Sie neu.',
  expiredTitle: 'Dieser Bezahlvorgang ist abgelaufen',
  expiredText: 'Er war zu lange offen. Sie haben damit nichts bezahlt. Gehen Sie zurück zum Shop und beginnen Sie neu.',
  originText: 'Er wurde nicht von einer Seite des Shops geöffnet. Sie haben nichts bezahlt.',
  attemptsTitle: 'Diese Bestellung wurde zu oft versucht',
  attemptsText:
    'Hier ist sie nicht mehr bezahlbar. Gehen Sie zurück zum Shop und beginnen Sie neu, oder fragen Sie den Shop.',
  closedTitle: 'Dieser Shop kann zurzeit keine Zahlungen per Bank annehmen',
  closedText: 'Sie haben nichts bezahlt. Zahlen Sie auf andere Weise, oder fragen Sie den Shop.',
  laterTitle: 'Bitte versuchen Sie es gleich noch einmal',
  laterText:
    'Die Zahlung ließ sich gerade nicht starten. Sie haben nichts bezahlt. Gehen Sie zurück und versuchen Sie es erneut.',
  otherTitle: 'Diese Zahlung lässt sich nicht starten',
  otherText: 'Sie haben nichts bezahlt. Gehen Sie zurück zum Shop und beginnen Sie neu, oder fragen Sie den Shop.',
}
