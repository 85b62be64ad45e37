const en = {
  title: 'Chat',
  greeting: 'Hello! How can I help?',
  open: 'Open the chat',
  close: 'Close the chat',
  restart: 'Begin a new chat',
  messages: 'Messages',
  message: 'Message',
  placeholder: 'Write a message',
  send: 'Send',
  stop: 'Stop the answer',
  starters: 'Questions to begin with',
  failed: 'This did not work. Please try again.',
  notNamed: (site: string) =>
    `This site (${site}) is not among those that may use this chat. Its owner can add it where the assistant is published.`,
  limited: (until: string) => `No more answers can be given for now. Please try again after ${until}.`,
  needsLink: 'This link is not complete. Please ask for the whole link.',
  closed: 'This chat is not open at the moment.',
  source: (number: number, file: string) => `Source ${number}: ${file}`,
  passage: 'The passage',
  page: (page: number) => `page ${page}`,
  closeSource: 'Close the source',
  table: 'Table',
  thinkingFor: (seconds: number) => `Thinking… ${seconds} s`,
  thoughtFor: (seconds: number) => `Thought for ${seconds} s`,
  limitedForNow: 'No more answers can be given for now. Please try again later.',
}

const de: typeof en = {
  title: 'Chat',
  greeting: 'Guten Tag! Wie kann ich helfen?',
  open: 'Chat öffnen',
  close: 'Chat schließen',
  restart: 'Neuen Chat beginnen',
  messages: 'Nachrichten',
  message: 'Nachricht',
  placeholder: 'Nachricht schreiben',
  send: 'Senden',
  stop: 'Antwort anhalten',
  starters: 'Fragen für den Anfang',
  failed: 'Das hat nicht geklappt. Bitte versuchen Sie es noch einmal.',
  notNamed: (site) =>
    `Diese Website (${site}) gehört nicht zu denen, die diesen Chat benutzen dürfen. Der Besitzer kann sie dort eintragen, wo der Assistent veröffentlicht wird.`,
  limited: (until) =>
    `Im Augenblick sind keine weiteren Antworten möglich. Bitte versuchen Sie es nach ${until} wieder.`,
  needsLink: 'Dieser Link ist nicht vollständig. Bitte lassen Sie sich den ganzen Link geben.',
  closed: 'Dieser Chat ist zurzeit nicht geöffnet.',
  source: (number, file) => `Quelle ${number}: ${file}`,
  passage: 'Die Textstelle',
  page: (page) => `Seite ${page}`,
  closeSource: 'Quelle schließen',
  table: 'Tabelle',
  thinkingFor: (seconds) => `Denkt nach … ${seconds} s`,
  thoughtFor: (seconds) => `${seconds} s nachgedacht`,
  limitedForNow: 'Im Augenblick sind keine weiteren Antworten möglich. Bitte versuchen Sie es später wieder.',
}

/** The words of the chat bubble, by language; a page can set its title and greeting. */
export const languages = { en, de }
export type Language = keyof typeof languages
