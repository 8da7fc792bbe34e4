# Reads a JSON list of references, and writes what Biblio::Citation::Parser (Debian: libbiblio-citation-parser-perl)
# finds in each, by the names of refextract's fields.
use strict;
use warnings;
use JSON::PP;
use Biblio::Citation::Parser::Standard;

my $parser = Biblio::Citation::Parser::Standard->new;
my @answers;
for my $text (@{ decode_json(join "", <STDIN>) }) {
    my $found = eval { $parser->parse($text) } || {};
    my @families = map { $_->{family} // "" } @{ $found->{authors} || [] };
    push @answers, {
        author         => join(" ", $found->{aulast} // "", @families),
        title          => $found->{atitle} || $found->{title} || "",
        year           => $found->{year} // "",
        journal_volume => $found->{volume} // "",
        journal_page   => $found->{spage} // "",
    };
}
print encode_json(\@answers);
