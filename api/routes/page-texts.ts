import type { Language } from '../../domain/languages.ts'

export interface PageText {
  title: string
  paragraphs?: readonly string[]
  /** The label of a button that sends a POST request to the page's own address. */
  button?: string
  /** The label of a link to the login. */
  login?: string
}

const toLogin: Record<Language, { login: string }> = {
  en: { login: 'To the login' },
  de: { login: 'Zur Anmeldung' },
  fr: { login: 'Vers la connexion' },
  es: { login: 'Ir al inicio de sesión' },
}

/** The pages about an account that is entered in another way differ in their advice only. */
const otherLogin: Record<Language, (advice: string) => PageText> = {
  en: (advice) => ({
    title: 'This account uses another kind of login',
    paragraphs: ['An account with the e-mail address of your identity provider already exists.', advice],
    ...toLogin.en,
  }),
  de: (advice) => ({
    title: 'Dieses Konto meldet sich anders an',
    paragraphs: ['Es gibt schon ein Konto mit der E-Mail-Adresse deines Identitätsanbieters.', advice],
    ...toLogin.de,
  }),
  fr: (advice) => ({
    title: 'Ce compte utilise un autre mode de connexion',
    paragraphs: ['Un compte avec l’adresse e-mail de votre fournisseur d’identité existe déjà.', advice],
    ...toLogin.fr,
  }),
  es: (advice) => ({
    title: 'Esta cuenta usa otra forma de iniciar sesión',
    paragraphs: ['Ya existe una cuenta con el correo electrónico de su proveedor de identidad.', advice],
    ...toLogin.es,
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
    ...toLogin.en,
  },
  otherDomain: {
    title: 'Your address logs in elsewhere',
    paragraphs: [
      'This identity provider does not speak for the domain of your e-mail address.',
      'Go back to the login, and choose the provider of your organisation.',
    ],
    ...toLogin.en,
  },
  noVerifiedEmail: {
    title: 'Your e-mail address is not verified',
    paragraphs: [
      'The identity provider gave no e-mail address that it has verified.',
      'Verify your address there, then log in again.',
    ],
    ...toLogin.en,
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
    ...toLogin.de,
  },
  otherDomain: {
    title: 'Deine Adresse meldet sich woanders an',
    paragraphs: [
      'Dieser Identitätsanbieter ist für die Domain deiner E-Mail-Adresse nicht zuständig.',
      'Geh zurück zur Anmeldung und wähle den Anbieter deiner Organisation.',
    ],
    ...toLogin.de,
  },
  noVerifiedEmail: {
    title: 'Deine E-Mail-Adresse ist nicht bestätigt',
    paragraphs: [
      'Der Identitätsanbieter hat keine bestätigte E-Mail-Adresse genannt.',
      'Bestätige deine Adresse dort, dann melde dich noch einmal an.',
    ],
    ...toLogin.de,
  },
}

const fr: Record<PageName, PageText> = {
  noSuchPage: {
    title: 'Cette page n’existe pas',
    paragraphs: ['L’adresse est erronée, ou la page n’est plus publique.'],
  },
  stopMails: { title: 'Ne plus recevoir les e-mails de cette planification ?', button: 'Ne plus recevoir ces e-mails' },
  mailsStopped: {
    title: 'Plus d’e-mails',
    paragraphs: ['Les résultats de cette planification ne sont plus envoyés par e-mail. Elle continue.'],
  },
  linkUsed: {
    title: 'Ce lien a déjà été utilisé',
    paragraphs: ['Des e-mails ont été demandés à nouveau depuis. Utilisez le lien de l’e-mail le plus récent.'],
  },
  accountWithPassword: otherLogin.fr('Il a un mot de passe : connectez-vous avec l’adresse e-mail et le mot de passe.'),
  accountOfProvider: otherLogin.fr('Connectez-vous à nouveau avec le fournisseur d’identité.'),
  accountOfUserPool: otherLogin.fr(
    'Il appartient à l’annuaire d’utilisateurs : connectez-vous par l’application qui l’utilise.',
  ),
  otherIdentity: {
    title: 'Ce compte appartient à une autre identité',
    paragraphs: [
      'Un compte avec votre adresse e-mail existe déjà, mais il a été créé avec une autre identité chez ce fournisseur d’identité.',
      'Connectez-vous avec cette identité, ou adressez-vous à l’exploitant de ce service.',
    ],
    ...toLogin.fr,
  },
  otherDomain: {
    title: 'Votre adresse se connecte ailleurs',
    paragraphs: [
      'Ce fournisseur d’identité n’est pas celui du domaine de votre adresse e-mail.',
      'Revenez à la connexion et choisissez le fournisseur de votre organisation.',
    ],
    ...toLogin.fr,
  },
  noVerifiedEmail: {
    title: 'Votre adresse e-mail n’est pas confirmée',
    paragraphs: [
      'Le fournisseur d’identité n’a donné aucune adresse e-mail confirmée.',
      'Confirmez-y votre adresse, puis connectez-vous à nouveau.',
    ],
    ...toLogin.fr,
  },
}

const es: Record<PageName, PageText> = {
  noSuchPage: {
    title: 'Esta página no existe',
    paragraphs: ['La dirección no es correcta, o la página ya no es pública.'],
  },
  stopMails: { title: '¿Dejar de recibir los correos de esta programación?', button: 'Dejar de recibir estos correos' },
  mailsStopped: {
    title: 'No habrá más correos',
    paragraphs: ['Los resultados de esta programación ya no se envían por correo. La programación continúa.'],
  },
  linkUsed: {
    title: 'Este enlace ya se ha usado',
    paragraphs: ['Desde entonces se han vuelto a pedir correos. Use el enlace del correo más reciente.'],
  },
  accountWithPassword: otherLogin.es('Tiene contraseña: inicie sesión con el correo electrónico y la contraseña.'),
  accountOfProvider: otherLogin.es('Inicie sesión de nuevo con el proveedor de identidad.'),
  accountOfUserPool: otherLogin.es(
    'Pertenece al grupo de usuarios: inicie sesión a través de la aplicación que lo usa.',
  ),
  otherIdentity: {
    title: 'Esta cuenta pertenece a otra identidad',
    paragraphs: [
      'Ya existe una cuenta con su correo electrónico, pero se creó con otra identidad de este proveedor de identidad.',
      'Inicie sesión con esa identidad, o pregunte a quien opera este servicio.',
    ],
    ...toLogin.es,
  },
  otherDomain: {
    title: 'Su dirección inicia sesión en otro lugar',
    paragraphs: [
      'Este proveedor de identidad no es el del dominio de su correo electrónico.',
      'Vuelva al inicio de sesión y elija el proveedor de su organización.',
    ],
    ...toLogin.es,
  },
  noVerifiedEmail: {
    title: 'Su correo electrónico no está confirmado',
    paragraphs: [
      'El proveedor de identidad no ha dado ningún correo electrónico confirmado.',
      'Confirme allí su dirección, y vuelva a iniciar sesión.',
    ],
    ...toLogin.es,
  },
}

/** The words of the small pages that the API itself answers with. */
export const pageTexts: Record<Language, Record<PageName, PageText>> = { en, de, fr, es }
