import type { Phase } from '../flow.ts'
import { banksScreen } from './banks.ts'
import { consentScreen } from './consent.ts'
import { failureScreen, leftScreen, loadingScreen, paidBeforeScreen, unusableScreen } from './failure.ts'
import { cancellingScreen, creatingScreen, handoverScreen } from './handover.ts'
import { processingScreen, waitingScreen } from './processing.ts'
import { receiptScreen } from './receipt.ts'
import type { View } from './view.ts'

/** The screen of each phase. */
export const SCREEN_OF: Readonly<Record<Phase, (view: View) => HTMLElement>> = {
  start: loadingScreen,
  unusable: unusableScreen,
  consent: consentScreen,
  banks: banksScreen,
  creating: creatingScreen,
  handover: handoverScreen,
  cancelling: cancellingScreen,
  switching: loadingScreen,
  processing: processingScreen,
  waiting: waitingScreen,
  paid: receiptScreen,
  paidBefore: paidBeforeScreen,
  failed: failureScreen,
  left: leftScreen,
}
