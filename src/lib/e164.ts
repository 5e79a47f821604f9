/** A phone number in E.164 form, as the contract takes it, payers are known by it and texts are sent to it. */
export const E164 = /^\+[1-9]\d{6,14}$/
