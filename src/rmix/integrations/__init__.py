"""The methods of rmix in other people's trainers, one file each."""
