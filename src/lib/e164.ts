/**
 * A phone number in E.164 form: the only form that the contract accepts, and that identifies payers and receives texts.
 * In a file of its own, so that the contract does not load libphonenumber.
 */
export const E164 = /^\+[1-9]\d{6,14}$/
