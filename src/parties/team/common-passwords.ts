import { createHash } from 'node:crypto'

/**
 * The 229 passwords of twelve or more characters among the 30,000 most used, as the zxcvbn project lists them (MIT
 * licence); shorter ones are refused anyway. Stored as prefixes of SHA-256, because many are not fit to print.
 */
const hashes = new Set(
  `
-BWuYXw2 -UH1V-6J -VK3S2CD -m5eWhio 0XRuHOnR 0lsbU_7a 1SR1upSS 23rZUDNu 29zwG_Us 2EqaaysP 2GyGUbeU 2K7MZSzk
2Kr8S4R8 3mJ4q57R 4AD0D8Ts 4SuC0djX 4WiJe7ST 53O7XZAm 5ABeLBV4 5JozIW0Y 5jgYAZH7 5xTMsjpR 6PGtK96j 6aL00OHw
71Ks4JDM 7O97HmTH 7unG4ZBv 7vocfgyW 8-rFbqRk 84TA5PiN 88iAEqyD 8fpdbCZC 97zS1ONy 9YfU1YZg 9ckxayB6 9fHOjyXX
9kSz0HcC ACX3VwTw AFSn3p1P AKa3LUCJ AM_kbSur AVAA9LWM Afccmiur AktMLyeS AvUUgvVy AyzBH-el BJWfqIEJ BMzGdEVf
BRkl0D_Y BTQUFSSx BZYEkhFb B_UxYgNn BbtDKkv2 BiXlv6Ee Bkf0sL_U CXy2wyWu CZOPkSjQ CfunlD4i Cmcki5rg DW_924eX
DaC5Q_Mi DeBeRbnf F0F-v-Bl F0y3USFJ FIZKaiPe FLvj9yZI FQNDQxzt FmjBH7gd FuU56IOi G3M-MIlx GF79TOh2 GL9u3ISA
GUgovfg4 GmhC_8to GmvU2ded GwHjChn5 H0VOjOjX HDEt1kJq HGmdBtlm I84H_ofb IOfC6Jgn J-7Pl_MN JD0CPMKy JWahjNHq
KIn1Rq-n KSniL0ix KUOlZ7wF KwqMI0u5 LLOAnuPt LVQ7vBK3 LYpBMieq M9c-I0Ec MABfVs8v MZuuKP5O MfYed_JX N-ctVHhL
NbbQqqrj NfkVZqaH NieZllxQ NqoVqI56 O02i4o6- OLh7ENCN OV8pEHMc OldFoF-H P1wLX5wy PqRWtLPf Q0b_kvW1 Q3mx0goF
Q5CHSC0h QPWYzHZV Rchr_8uR RqKBzTVJ S7XtUuVk SB7DEMKn SJH4VkgK SsH1rv2b THPWx311 U6YMlDbZ UL_uSccG UPSAl-Pl
W9etsCRG WLqjxUr1 WMax0yZT WeIPaUVi X1DdcnTv XVpwoteI X_7S4b1W Xk_467X- XmEOa02C XpKG2oJh Xzs7YUlX YGvkvn2k
YXA0wi22 YmXbDIxd Ytm1ayOp Z9cQpZCg ZKgTa-2B ZbyGf2j_ ZnjUPnQt ZvH6gy1h a4QZn1Y5 atZloD3F auIXFkoe bF8oWp7b
bu37ltcn c0duOCYx c5jPEPKa cORI7zCZ cVqXSRxq cW-f-Skx cXmwswmI d1ucIAAC dDBWFrK8 dlrZ9Mfm dy8P4bJu eAsQz6qs
eJuZ6SpL f9BvDiph fDbFsPtr fcrJGqyR g3A1SQ8I gXSgXU4m gdBv6RZh ggbSLwQ3 grpwG8gf h2jO0l5j h9l9FebD hFul5BLQ
hGFbGnvX hOvBuseH iQekmbVK iTUmIaLl i_TexUXh ibAKLt9t iukC3QkR jFyufA3Q jG6W96tq jflQJlOP kBWzUCoh kHfRr2nH
kJzeSic- klsTp--b lFcpmyms lTEk9ZZQ lbOvMJkm lc5w2e3j nI9aSnd5 nt10Ev5l oDZHVaOK okVv8GHE pgOXSuSz pievSUPD
povzsv7V q4ueArMm qR8Mwk_2 qalaY6Qu r1f5ohtY rPRUiJeN rl3rhl05 s4KCJXic sB6wAIBQ sCVvDvTf sQ5kJ4Au sQj9-Me2
sowizQRQ ssN-0Zpd tMTY0b-3 tR176m0C trkBAlXO uDa-NY_K uWibRuBN uclQZA4b vFs_4y4j vqfwiHW7 wryCnylR x-QCJY7j
xlWNLBFo xoaJszjY xrPlEC8m y14PrHXJ yCB57ISi yF9nuoAm yK3kXtZP yMOLnIc0 yQNOSa8s yrGOXAzf ys_VJEAD zFcSmkVJ
zmQoco-K
`
    .trim()
    .split(/\s+/),
)

export const isCommon = (password: string): boolean =>
  hashes.has(createHash('sha256').update(password.toLowerCase()).digest('base64url').slice(0, 8))
