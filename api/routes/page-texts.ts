import type { Language } from '../../domain/languages.ts'

export interface PageText {
  title: string
  paragraphs?: readonly string[]
  /** The label of a button that sends a POST request to the page's own address. */
  button?: string
}

/** The pages about an account that is entered in another way differ in their advice only. */
const otherLogin: Record<Language, (advice: string) => PageText> = {
  en: (advice) => ({
    title: 'This account uses another kind of login',
    paragraphs: ['An account with the e-mail address of your identity provider already exists.', advice],
  }),
  de: (advice) => ({
    title: 'Dieses Konto meldet sich anders an',
    paragraphs: ['Es gibt schon ein Konto mit der E-Mail-Adresse deines Identitätsanbieters.', advice],
  }),
}

const en = {
  noSuchPage: {
    title: 'No such page',
    paragraphs: ['The address is wrong, or the page is not open to the public any more.'],
  },
  stopMails: { title: 'Stop the mails of this schedule?', button: 'Stop these mails' },
  mailsStopped: {
    title: 'No more mails',
    paragraphs: ['The results of this schedule are no longer mailed. It goes on running.'],
  },
  linkUsed: {
    title: 'This link was used before',
    paragraphs: ['Mails were asked for again since. Use the link of the newest mail.'],
  },
  accountWithPassword: otherLogin.en('It has a password: log in with the e-mail address and the password instead.'),
  accountOfProvider: otherLogin.en('Log in with the identity provider again.'),
  accountOfUserPool: otherLogin.en('It belongs to the user pool: log in through the application that uses it.'),
  otherIdentity: {
    title: 'This account belongs to another identity',
    paragraphs: [
      'An account with your e-mail address already exists, but it was created with another identity at this identity provider.',
      'Log in with that identity, or ask the people who run this service.',
    ],
  },
  noVerifiedEmail: {
    title: 'Your e-mail address is not verified',
    paragraphs: [
      'The identity provider gave no e-mail address that it has verified.',
      'Verify your address there, then log in again.',
    ],
  },
} satisfies Record<string, PageText>

export type PageName = keyof typeof en

const de: Record<PageName, PageText> = {
  noSuchPage: {
    title: 'Diese Seite gibt es nicht',
    paragraphs: ['Die Adresse ist falsch, oder die Seite ist nicht mehr öffentlich.'],
  },
  stopMails: { title: 'Keine E-Mails dieses Zeitplans mehr?', button: 'Keine E-Mails mehr senden' },
  mailsStopped: {
    title: 'Keine E-Mails mehr',
    paragraphs: ['Die Ergebnisse dieses Zeitplans kommen nicht mehr per E-Mail. Er läuft weiter.'],
  },
  linkUsed: {
    title: 'Dieser Link wurde schon benutzt',
    paragraphs: ['Seitdem wurden wieder E-Mails gewünscht. Nimm den Link aus der neuesten E-Mail.'],
  },
  accountWithPassword: otherLogin.de('Es hat ein Passwort: Melde dich mit E-Mail-Adresse und Passwort an.'),
  accountOfProvider: otherLogin.de('Melde dich noch einmal beim Identitätsanbieter an.'),
  accountOfUserPool: otherLogin.de('Es gehört zum Nutzerverzeichnis: Melde dich mit der Anwendung an, die es benutzt.'),
  otherIdentity: {
    title: 'Dieses Konto gehört zu einer anderen Identität',
    paragraphs: [
      'Es gibt schon ein Konto mit deiner E-Mail-Adresse, aber es wurde mit einer anderen Identität bei diesem Identitätsanbieter angelegt.',
      'Melde dich mit jener Identität an, oder frage die Betreiber dieses Dienstes.',
    ],
  },
  noVerifiedEmail: {
    title: 'Deine E-Mail-Adresse ist nicht bestätigt',
    paragraphs: [
      'Der Identitätsanbieter hat keine bestätigte E-Mail-Adresse genannt.',
      'Bestätige deine Adresse dort, dann melde dich noch einmal an.',
    ],
  },
}

/** The words of the small pages that the API itself answers with. */
export const pageTexts: Record<Language, Record<PageName, PageText>> = { en, de }
